(* Every semiautomaton in ceil(log2 T) layers, by composing maps of states in pairs: the
   construction of constructions/computation/semiautomaton.py (form "lean", radix 2), and its proof.

   The states are 0 ... H; the symbols are at the positions 1 ... T, BOS is at position 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import hard_attention piecewise compose_maps.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* The task: the state after each symbol. *)
Section Task.
Variables (H : nat) (delta : nat -> 'I_H.+1 -> 'I_H.+1) (word : nat -> nat).
Implicit Types (q : 'I_H.+1) (i w : nat).

Fixpoint state q i : 'I_H.+1 := if i is i'.+1 then delta (word i) (state q i') else q.

(* The map of the last w symbols up to position i, or of all of them if there are fewer. *)
Fixpoint window w i q : 'I_H.+1 :=
  if w is w'.+1 then (if i is i'.+1 then delta (word i) (window w' i' q) else q) else q.

Lemma window_0 w q : window w 0 q = q. Proof. by case: w. Qed.

(* The window of w + w' symbols: first the last w' of the positions up to i - w, then the last w. *)
Lemma window_add w w' i q : window (w + w') i q = window w i (window w' (i - w) q).
Proof.
elim: w i => [|w IH] i; first by rewrite add0n subn0.
by case: i => [|i] /=; [rewrite window_0 | rewrite IH subSS].
Qed.

Lemma window_all w i q : (i <= w)%N -> window w i q = state q i.
Proof. by elim: i w => [|i IH] [|w] //= le; rewrite IH. Qed.

End Task.

Section Model.
Variables (F : realFieldType) (H : nat) (delta : nat -> 'I_H.+1 -> 'I_H.+1) (word : nat -> nat).
Variable T : nat.
Implicit Types (q : 'I_H.+1) (i j : 'I_T.+1).

(* A map is stored as the image of each state, a number. *)
Definition numbers (f : 'I_H.+1 -> 'I_H.+1) : 'rV[F]_H.+1 := \row_q (f q : nat)%:R.

Record registers := Registers { map_ : 'I_T.+1 -> 'rV[F]_H.+1; fetched : 'I_T.+1 -> 'rV[F]_H.+1 }.

(* The embedding: the map of the symbol, and at BOS the identity. *)
Definition embedding : registers := Registers
  (fun i => if i == ord0 then numbers id else numbers (delta (word i))) (fun=> 0).

(* The head of distance w: query (2(i - w), -1), key (j, j^2), value `map`. *)
Definition placed_score (w : nat) i j : F :=
  2%:R * (i%:R - w%:R) * j%:R - 1 * (j%:R * j%:R).

Definition fetch (w : nat) (st : registers) : registers :=
  Registers (map_ st) (fun i => fetched st i + hardmax (@causal T) (placed_score w) (map_ st) i).

(* The MLP, with f = `map` and g = `fetched`: the ReLUs of compose_maps.v are added to `map`;
   relu(f) replaces f by f(0), and relu(g) subtracts (K/2) g and clears g. *)
Definition entry (f : 'rV[F]_H.+1) (t : nat) : F := f 0 (inord t).

Definition compose (st : registers) : registers := Registers
  (fun i => let f := map_ st i in \row_q
     (f 0 q + \sum_(k < H) lean_neuron H (entry f) (fetched st i 0 q) k
            + (relu (entry f 0) - relu (f 0 q)) - H%:R * relu (fetched st i 0 q)))
  (fun i => \row_q (fetched st i 0 q - relu (fetched st i 0 q))).

Definition layer (l : nat) (st : registers) : registers := compose (fetch (2 ^ l) st).

Definition layers : seq (registers -> registers) := [seq layer l | l <- iota 0 (up_log 2 T)].

Theorem number_of_layers : size layers = up_log 2 T.
Proof. by rewrite size_map size_iota. Qed.

Definition run (fs : seq (registers -> registers)) : registers :=
  foldl (fun st f => f st) embedding fs.

(* The head attends to position i - w, or to BOS if there is none, with a gap of 1. *)
Lemma square_gap (x y : nat) : x != y -> 1 <= (x%:R - y%:R) * (x%:R - y%:R) :> F.
Proof.
move=> xy; rewrite !pmulrn -rmorphB -rmorphM ler1z -gtz0_ge1 -expr2 exprn_even_gt0 //=.
by rewrite subr_eq0 eqz_nat.
Qed.

Lemma score_gap (x y : nat) : y != x ->
  2%:R * x%:R * y%:R - 1 * (y%:R * y%:R) + 1 <= 2%:R * x%:R * x%:R - 1 * (x%:R * x%:R) :> F.
Proof.
move=> yx; rewrite -ler_subr_addl.
have := square_of_difference 1 (x%:R : F) y%:R; rewrite !mulr1 !mul1r !mulrA => ->.
by rewrite square_gap // eq_sym.
Qed.

Definition at_distance (w : nat) i : 'I_T.+1 := inord (i - w).

Lemma at_distanceE w i : at_distance w i = (i - w)%N :> nat.
Proof. by apply: inordK; apply: leq_ltn_trans (leq_subr w i) (ltn_ord i). Qed.

Theorem placed_found w i : found (@causal T) (placed_score w) 1 i (at_distance w i).
Proof.
split=> [|j ji]; first by rewrite /causal at_distanceE leq_subr.
rewrite -val_eqE /= /placed_score at_distanceE => ne; have [wi|iw] := leqP w i.
  by rewrite -natrB //; apply: score_gap.
move: ne; have /eqP -> : (i - w == 0)%N by rewrite subn_eq0 ltnW.
rewrite !mulr0 subr0 => j0; have neg : 2%:R * (i%:R - w%:R) * j%:R <= 0 :> F.
  by rewrite mulr_le0_ge0 ?ler0n // mulr_ge0_le0 ?ler0n // subr_le0 ler_nat ltnW.
rewrite -addrA addrC; apply: le_trans (ler_add (lexx _) neg) _.
by rewrite addr0 addrC mul1r subr_le0; have := square_gap j0; rewrite subr0.
Qed.

Lemma fetch_is w st i : fetched st i = 0 -> fetched (fetch w st) i = map_ st (at_distance w i).
Proof. by move=> /= ->; rewrite add0r (hardmax_found _ ltr01 (placed_found w i)). Qed.

(* The MLP composes two maps, and clears the register `fetched`. *)
Lemma compose_is st i f g : map_ st i = numbers f -> fetched st i = numbers g ->
  map_ (compose st) i = numbers (fun q => f (g q)) /\ fetched (compose st) i = 0.
Proof.
have pos m : relu m%:R = m%:R :> F by rewrite relu_pos ?ler0n.
move=> /= -> ->; split; apply/rowP => q; last by rewrite !mxE pos subrr.
have bounds t : (t <= H)%N -> 0 <= entry (numbers f) t <= H%:R.
  by move=> _; rewrite /entry mxE ler0n ler_nat -ltnS ltn_ord.
have := lean_composes bounds (leq_ord (g q)); rewrite /lean.
set neurons := \sum_(k < H) _; rewrite /entry !mxE inord_val !pos => <-.
by congr (_ - _); rewrite addrC addrA subrK.
Qed.

(* After l layers, `map` is the map of the last 2^l symbols. *)
Definition holds_windows (w : nat) (st : registers) : Prop :=
  forall i, map_ st i = numbers (window delta word w i) /\ fetched st i = 0.

Lemma embedding_windows : holds_windows 1 embedding.
Proof.
move=> i; split=> //=; apply/rowP => q; have [->|i0] := eqVneq i ord0; first by rewrite !mxE.
by rewrite !mxE; case: i i0 => [[|i] lt].
Qed.

Lemma layer_windows l st : holds_windows (2 ^ l) st -> holds_windows (2 ^ l.+1) (layer l st).
Proof.
move=> windows i; have [maps_i cleared] := windows i.
have [maps_a _] := windows (at_distance (2 ^ l) i).
have [] := @compose_is (fetch (2 ^ l) st) i _ _ maps_i (etrans (fetch_is _ cleared) maps_a).
move=> -> ->; split=> //; apply/rowP => q.
by rewrite !mxE at_distanceE expnS mul2n -addnn window_add.
Qed.

Theorem run_windows l : holds_windows (2 ^ l) (run [seq layer m | m <- iota 0 l]).
Proof.
elim: l => [|l IH]; first exact: embedding_windows.
have -> : iota 0 l.+1 = iota 0 l ++ [:: l] by rewrite -addn1 iotaD.
by rewrite map_cat /run foldl_cat; apply: layer_windows.
Qed.

(* The theorem: ceil(log2 T) layers compute the map of the whole word, at every position. *)
Theorem states_are_computed i q : map_ (run layers) i 0 q = (state delta word q i : nat)%:R.
Proof.
have [-> _] := run_windows (up_log 2 T) i; rewrite mxE window_all //.
by apply: leq_trans (leq_ord i) (up_logP _ _).
Qed.

(* The logit of the state s is 2 s m - s^2 for the number m of the state: largest at s = m, by at
   least 1. *)
Definition logit (start : 'I_H.+1) i (s : nat) : F :=
  2%:R * map_ (run layers) i 0 start * s%:R - 1 * (s%:R * s%:R).

Theorem logits start i (s : 'I_H.+1) : s != state delta word start i ->
  logit start i s + 1 <= logit start i (state delta word start i).
Proof. by move=> ne; rewrite /logit states_are_computed; apply: score_gap. Qed.

End Model.

(* The last layer is needed: a symbol of a flip-flop that sets the state to 1, followed by symbols
   that leave it as it is.  Without the last layer the window does not contain the first symbol. *)
Section Sharp.
Variables (F : realFieldType) (T : nat).
Hypothesis T_gt1 : (1 < T)%N.

Definition set_or_keep (a : nat) (q : 'I_2) : 'I_2 := if a == 1%N then inord 1 else q.
Definition set_first (i : nat) : nat := (i == 1)%N.
Let all_layers := layers F 1 T.
Let run_word := @run F 1 set_or_keep set_first T.

Lemma state_set q i : state set_or_keep set_first q i.+1 = inord 1.
Proof. by elim: i => // i IH; rewrite -IH. Qed.

(* A window that does not contain position 1 keeps the state. *)
Lemma window_keeps w i q : (w < i)%N -> window set_or_keep set_first w i q = q.
Proof. by elim: w i => [|w IH] [|[|i]] //= le; rewrite IH. Qed.

Theorem last_layer_needed :
  map_ (run_word (take (size all_layers).-1 all_layers)) ord_max 0 ord0 !=
  map_ (run_word all_layers) ord_max 0 ord0.
Proof.
have log0 : (0 < up_log 2 T)%N by rewrite up_log_gt0.
have -> : take (size all_layers).-1 all_layers =
    [seq @layer F 1 T m | m <- iota 0 (up_log 2 T).-1].
  rewrite size_map size_iota -map_take; congr map; move: log0.
  by case: (up_log 2 T) => // l _; rewrite -[l.+1]addn1 iotaD addn1 take_size_cat ?size_iota.
have set_T : state set_or_keep set_first ord0 (ord_max : 'I_T.+1) = inord 1.
  by rewrite /= -(prednK (ltnW T_gt1)) state_set.
rewrite /run_word states_are_computed set_T.
have [-> _] := run_windows F set_or_keep set_first (up_log 2 T).-1 (ord_max : 'I_T.+1).
by rewrite mxE window_keeps ?up_log_gtn //= inordK // eq_sym oner_eq0.
Qed.

End Sharp.

Print Assumptions number_of_layers.
Print Assumptions placed_found.
Print Assumptions run_windows.
Print Assumptions states_are_computed.
Print Assumptions logits.
Print Assumptions last_layer_needed.
