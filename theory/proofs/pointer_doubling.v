(* k hops of an induction head in floor(log2 k) + 2 layers of one unique-hard head each, by doubling
   pointers: the construction and its proof are those of constructions/retrieval/hop.py.

   A hop leads from a position i to find i, the position after the latest earlier occurrence of the
   token at i; BOS, position 0, stands for "no match", and a hop leads from BOS to BOS. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import hard_attention induction_heads.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Numbers in binary: k mod 2^(m+1) has the bit m of k and the bits below it. *)
Section Binary.
Local Open Scope nat_scope.
Implicit Types k m : nat.

Lemma low_bits k m : k %% 2 ^ m.+1 = bit k m * 2 ^ m + k %% 2 ^ m.
Proof.
have rest : k %% 2 ^ m < 2 ^ m by rewrite ltn_mod expn_gt0.
have small : bit k m * 2 ^ m + k %% 2 ^ m < 2 ^ m.+1.
  rewrite expnS mul2n -addnn -addnS leq_add //; by case: bit; rewrite ?mul1n.
have halves : k %/ 2 ^ m = (k %/ 2 ^ m)./2 * 2 + bit k m.
  by rewrite muln2 addnC odd_double_half.
rewrite {1}(divn_eq k (2 ^ m)) halves mulnDl -mulnA -expnS -addnA modnMDl modn_small //.
Qed.

End Binary.

Section Task.
Variables (n : nat) (tok : nat -> nat).
Implicit Types i j : 'I_n.+1.

Definition hop_to : 'I_n.+1 -> 'I_n.+1 := find tok false.

Lemma hop_le i : (hop_to i <= i)%N.
Proof. by rewrite /hop_to; case: findP => [j /and3P[]|]. Qed.

Lemma hops_le h i : (iter h hop_to i <= i)%N.
Proof. by elim: h => //= h IH; apply: leq_trans (hop_le _) IH. Qed.

Lemma hop_BOS : hop_to ord0 = ord0.
Proof. by apply/eqP; rewrite -val_eqE /= -leqn0 hop_le. Qed.

End Task.

Section Model.
Variables (F : realFieldType) (V n r : nat).
Hypothesis V_codes : (V <= 2 ^ r)%N.
(* Distinct lattice points; that of BOS is 0. *)
Variables (d : nat) (point : 'I_n.+1 -> 'rV[int]_d).
Hypotheses (point_inj : injective point) (point_BOS : point ord0 = 0).
Variable tok : nat -> nat.
Hypothesis tok_lt : forall i, (tok i < V)%N.
Variables (k : nat) (c : F).
Hypotheses (k_gt0 : (0 < k)%N) (c_gt0 : 0 < c).
Implicit Types i j t : 'I_n.+1.

Let hop := @hop_to n tok.
Let code_of : 'I_n.+1 -> 'rV[F]_r := token_code F r tok.
Let place_of : 'I_n.+1 -> 'rV[F]_d := place F point.

(* The registers that layers write, by position: the lattice point of a pointer, and a code. *)
Record registers := Registers {
  pointer : 'I_n.+1 -> 'rV[F]_d;
  answer : 'I_n.+1 -> 'rV[F]_r
}.

(* Layer 1, strictly causal: query (c M code, c), key (code, rank), value the next point.  M is
   floor(n/2) + 1. *)
Definition factor : nat := n./2.+1.
Definition find_rank j : F := (if j == ord0 then factor * r else j)%N%:R.
Definition find_score i j : F :=
  inner ((c * factor%:R) *: code_of i) (code_of j) + c * find_rank j.
Definition after j : 'rV[F]_d :=
  if (j == ord0) || (j == n :> nat) then 0 else place_of (inord j.+1).

Definition find_layer (st : registers) : registers :=
  Registers (fun i => pointer st i + hardmax (@strictly_causal n) find_score after i) (answer st).

(* Layer 2 + m looks up the pointer.  It adds pointer - place to the pointer, unless it is the last
   layer, and, if bit m of k is set, reads the code (at the lowest set bit) or the answer there. *)
Definition last_layer : nat := trunc_log 2 k.

Definition jump_score (st : registers) (m : nat) i j : F :=
  look_up (if (m < last_layer)%N then c else 1) (pointer st i) (place_of j).

Definition jump (m : nat) (st : registers) : registers :=
  let read W (value : 'I_n.+1 -> 'rV[F]_W) := hardmax (@causal n) (jump_score st m) value in
  Registers
    (fun i => if (m < last_layer)%N
              then pointer st i + read d (fun j => pointer st j - place_of j) i
              else pointer st i)
    (fun i => if (k %% 2 ^ m.+1 == 2 ^ m)%N then answer st i + read r code_of i
              else if bit k m then answer st i + (read r (answer st) i - answer st i)
              else answer st i).

Definition layers : seq (registers -> registers) :=
  find_layer :: [seq jump m | m <- iota 0 last_layer.+1].

Theorem number_of_layers : size layers = (trunc_log 2 k + 2)%N.
Proof. by rewrite /= size_map size_iota addn2. Qed.

Definition run (fs : seq (registers -> registers)) : registers :=
  foldl (fun st f => f st) (Registers (fun=> 0) (fun=> 0)) fs.

(* Layer 1 finds the hop: the scores are c times M r at BOS, M r + j at a token equal to token i,
   and at most M r - 1 at other tokens. *)
Let s i j : F := factor%:R * inner (code_of i) (code_of j) + find_rank j.

Lemma find_scoreE i j : find_score i j = c * s i j.
Proof. by rewrite /find_score /s innerZl mulrDr mulrA. Qed.

Let positive j : j != ord0 -> (0 < j)%N.
Proof. by rewrite -val_eqE /= lt0n. Qed.

Let code_pos j : j != ord0 -> code_of j = code F r (tok j).
Proof. by rewrite /code_of /token_code => /negPf->. Qed.

Let code_BOS : code_of ord0 = 0.
Proof. by rewrite /code_of /token_code eqxx. Qed.

Let s_BOS i : s i ord0 = (factor * r)%:R.
Proof.
have -> : s i ord0 = factor%:R * inner (code_of i) 0 + find_rank ord0 by rewrite /s code_BOS.
by rewrite inner0 mulr0 add0r /find_rank eqxx.
Qed.

Let s_equal i j : i != ord0 -> j != ord0 -> tok j = tok i -> s i j = (factor * r + j)%:R.
Proof.
move=> i0 j0 same; rewrite /s !code_pos // same inner_code_self -natrM natrD /find_rank.
by rewrite (negPf j0).
Qed.

Let s_other i j : i != ord0 -> j != ord0 -> tok j != tok i -> s i j + 1 <= (factor * r)%:R.
Proof.
move=> i0 j0 other; rewrite /s !code_pos // /find_rank (negPf j0).
have codes : inner (code F r (tok i)) (code F r (tok j)) <= r%:R - 2%:R.
  by apply: inner_code_other; rewrite 1?eq_sym //; apply: leq_trans (tok_lt _) V_codes.
have j_lt : (j < factor * 2)%N.
  by rewrite (leq_trans (ltn_ord j)) // muln2 /factor doubleS -{1}(odd_double_half n); case: odd.
rewrite -addrA; apply: le_trans (ler_add (ler_wpmul2l (ler0n _ _) codes) (lexx _)) _.
by rewrite mulrBr -!natrM -addrA ger_addl addrC subr_le0 natr_succ ler_nat.
Qed.

(* A token equal to token i is directly before a match. *)
Let match_after i j : j != ord0 -> (j < i)%N -> tok j = tok i ->
  exists2 t, is_match tok i t & t = j.+1 :> nat.
Proof.
move=> /positive j0 ji same; have lt : (j.+1 < n.+1)%N by apply: leq_ltn_trans ji _.
by exists (Ordinal lt); rewrite // /is_match /= ltnS j0 ji same eqxx.
Qed.

Theorem find_found i : (0 < i)%N -> found (@strictly_causal n) find_score c i (inord (hop i).-1).
Proof.
move=> i_gt0; have i0 : i != ord0 by rewrite -val_eqE /= -lt0n.
suff [mask_p best] : found (@strictly_causal n) s 1 i (inord (hop i).-1).
  split=> // j /best{best} H /H; rewrite !find_scoreE => /(ler_wpmul2l (ltW c_gt0)).
  by rewrite mulrDr mulr1.
rewrite /hop /hop_to; case: findP => [t match_t best | none].
  have /and3P[t1 ti /eqP same] := match_t; pose p : 'I_n.+1 := inord t.-1.
  have p_t : p.+1 = t.
    rewrite /p inordK; first exact: ltn_predK t1.
    exact: leq_ltn_trans (leq_pred t) (ltn_ord t).
  have p0 : p != ord0 by rewrite -val_eqE /= -lt0n -ltnS p_t.
  have same_p : tok p = tok i by rewrite -same -p_t.
  split=> [|j j_lt ne]; first by rewrite /strictly_causal -/p -ltnS p_t ltnS.
  rewrite (s_equal i0 p0 same_p); have [->|j0] := eqVneq j ord0.
    by rewrite s_BOS natr_succ ler_nat -addn1 leq_add2l positive.
  have [same_j|other] := eqVneq (tok j) (tok i); last first.
    by apply: le_trans (s_other i0 j0 other) _; rewrite ler_nat leq_addr.
  rewrite (s_equal i0 j0 same_j) natr_succ ler_nat -addnS leq_add2l -ltnS p_t.
  have [u match_u u_j] := match_after j0 j_lt same_j; rewrite -u_j.
  apply: best match_u _; apply: contra ne => /eqP u_t.
  by rewrite -/p -val_eqE -eqSS /= p_t -u_t u_j.
have -> : inord (ord0 : 'I_n.+1).-1 = ord0 :> 'I_n.+1 by apply: val_inj; rewrite /= inordK.
split=> [//|j j_lt j0]; rewrite s_BOS; apply: s_other => //.
apply/eqP => /(match_after j0 j_lt)[u match_u _].
by have := none u; rewrite match_u.
Qed.

Lemma pointer_of_find i : pointer (run [:: find_layer]) i = place_of (hop i).
Proof.
have place_BOS : place_of ord0 = 0 by rewrite /place_of /place point_BOS /real map_mx0.
rewrite /= add0r; have [->|i0] := eqVneq i ord0.
  by rewrite hardmax_none // /hop hop_BOS place_BOS.
rewrite (hardmax_found _ c_gt0 (find_found (positive i0))) /after.
have [zero|some] := eqVneq (hop i) ord0.
  have -> : inord (hop i).-1 = ord0 :> 'I_n.+1 by apply: val_inj; rewrite zero /= inordK.
  by rewrite zero place_BOS.
have t1 : (1 < hop i)%N.
  by move: some; rewrite /hop /hop_to; case: findP => [t /and3P[]|]; rewrite ?eqxx.
have t_le : ((hop i).-1 < n)%N by rewrite -ltnS (ltn_predK t1).
rewrite -val_eqE /= inordK; last exact: ltnW.
by rewrite -subn1 subn_eq0 leqNgt t1 subn1 (ltn_eqF t_le) (ltn_predK t1) inord_val.
Qed.

(* After m jumps the pointer is that of 2^m hops, and the answer the code after k mod 2^m hops. *)
Definition invariant (m : nat) (st : registers) : Prop :=
  (forall i, pointer st i = place_of (iter (2 ^ m) hop i)) /\
  (forall i, answer st i = if (k %% 2 ^ m == 0)%N then 0 else code_of (iter (k %% 2 ^ m) hop i)).

Lemma jump_reads (st : registers) (W : nat) (value : 'I_n.+1 -> 'rV[F]_W) m i h :
  pointer st i = place_of (iter h hop i) ->
  hardmax (@causal n) (jump_score st m) value i = value (iter h hop i).
Proof.
pose c' := if (m < last_layer)%N then c else 1.
have c'_gt0 : 0 < c' by rewrite /c'; case: ifP; rewrite ?ltr01.
move=> points.
suff at_pointer : found (@causal n) (jump_score st m) c' i (iter h hop i).
  exact: hardmax_found c'_gt0 at_pointer.
split=> [|j _ ne]; first exact: hops_le.
rewrite /jump_score points; apply: look_up_gap; first exact: ltW c'_gt0.
by rewrite (inj_eq point_inj).
Qed.

Lemma jump_answer m st : invariant m st -> forall i, answer (jump m st) i =
  if (k %% 2 ^ m.+1 == 0)%N then 0 else code_of (iter (k %% 2 ^ m.+1) hop i).
Proof.
case=> points answers i /=; have reads W value := @jump_reads st W value m i _ (points i).
have [at_0|bit_0] := boolP (bit k m); last first.
  have same : (k %% 2 ^ m.+1 = k %% 2 ^ m)%N by rewrite low_bits (negPf bit_0).
  by rewrite same ltn_eqF ?ltn_mod ?expn_gt0 // answers.
have lowest : (2 ^ m + k %% 2 ^ m == 2 ^ m)%N = (k %% 2 ^ m == 0)%N.
  by rewrite -[RHS](eqn_add2l (2 ^ m)) addn0.
rewrite !reads low_bits at_0 mul1n lowest addn_eq0 expn_eq0 /=.
have [zero|some] := eqVneq (k %% 2 ^ m)%N 0%N; first by rewrite answers zero eqxx add0r addn0.
by rewrite addrC subrK answers (negPf some) addnC iterD.
Qed.

Lemma jump_pointer m st : (m < last_layer)%N -> invariant m st ->
  forall i, pointer (jump m st) i = place_of (iter (2 ^ m.+1) hop i).
Proof.
move=> less [points answers] i /=; rewrite less (jump_reads _ _ (points i)) !points.
by rewrite addrCA subrr addr0 -iterD addnn -mul2n -expnS.
Qed.

(* The stream after layer 1 and m jumps. *)
Fixpoint after_jumps (m : nat) : registers :=
  if m is m'.+1 then jump m' (after_jumps m') else run [:: find_layer].

Lemma run_jumps m : run (find_layer :: [seq jump m | m <- iota 0 m]) = after_jumps m.
Proof.
elim: m => [//|m IH]; rewrite -addn1 iotaD map_cat /run -cat_cons foldl_cat.
by rewrite -/(run _) IH add0n addn1.
Qed.

Lemma invariant_holds m : (m <= last_layer)%N -> invariant m (after_jumps m).
Proof.
elim: m => [_|m IH less]; first by split=> i; [exact: pointer_of_find | rewrite modn1].
have inv := IH (ltnW less).
by split; [exact: jump_pointer | exact: jump_answer].
Qed.

(* The theorem: floor(log2 k) + 2 layers write the code of the token after k hops, or 0. *)
Theorem hops_are_found i : answer (run layers) i = code_of (iter k hop i).
Proof.
rewrite run_jumps (jump_answer (invariant_holds (leqnn _))).
by rewrite modn_small ?trunc_log_ltn // (gtn_eqF k_gt0).
Qed.

(* The logit of v is <answer, b(v)>: r for the token after k hops and at most r - 2 for others, and
   0 for all v if a hop finds no match. *)
Definition logit i (v : nat) : F := inner (answer (run layers) i) (code F r v).

Theorem logits_after_hops i (x := tok (iter k hop i)) : iter k hop i != ord0 ->
  logit i x = r%:R /\ forall v, (v < V)%N -> v != x -> logit i v + 2%:R <= r%:R.
Proof.
move=> some; rewrite /logit hops_are_found code_pos //; split; first exact: inner_code_self.
have short v : (v < V)%N -> (v < 2 ^ r)%N by move=> v_lt; apply: leq_trans v_lt V_codes.
move=> v v_lt ne; rewrite -(inner_code_self F r x).
apply: code_decoded => // [||a]; [exact/short/tok_lt | exact: short |].
by rewrite !mxE; case: bit; rewrite ?mulrNN mulr1.
Qed.

Theorem logits_without_hops i v : iter k hop i = ord0 -> logit i v = 0.
Proof. by move=> none; rewrite /logit hops_are_found none code_BOS innerC inner0. Qed.

End Model.

Print Assumptions number_of_layers.
Print Assumptions find_found.
Print Assumptions hops_are_found.
Print Assumptions logits_after_hops.
Print Assumptions logits_without_hops.
