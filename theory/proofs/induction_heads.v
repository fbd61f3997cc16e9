(* Induction heads: two layers of unique-hard attention find the token after an earlier copy of the
   current token, for every vocabulary and every length, by scores that are integers and whose
   maximum exceeds all other scores by at least 1.  The construction and its proof are those of
   constructions/retrieval/induction.py. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import hard_attention.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* What is to be computed.  Token i = 1 ... n is tok i, position 0 is BOS. *)
Section Task.
Variables (n : nat) (tok : nat -> nat).
Implicit Types i j t : 'I_n.+1.

(* The position after an earlier occurrence of the token at i. *)
Definition is_match i j : bool := [&& 1 < j, j <= i & tok j.-1 == tok i]%N.

(* Which match is the answer: the one of the largest order, j itself for the latest match, n + 1 - j
   for the first.  Orders of matches are 1 ... n, and distinct. *)
Variable first : bool.
Definition order j : nat := (if first then n.+1 - j else j)%N.

(* The answer's position, 0 (BOS) if there is no match. *)
Definition find i : 'I_n.+1 :=
  odflt ord0 [pick j | is_match i j & [forall j', is_match i j' ==> (order j' <= order j)%N]].

Lemma order_inj : injective order.
Proof.
move=> j j'; rewrite /order; case: first => [same|/val_inj //].
by apply: val_inj; rewrite /= -[LHS](subKn (ltnW (ltn_ord j))) same subKn // ltnW.
Qed.

Lemma order_bounds j : (0 < j)%N -> (0 < order j <= n)%N.
Proof.
move=> j0; rewrite /order; case: first; last by rewrite j0 -ltnS ltn_ord.
by rewrite subn_gt0 ltn_ord leq_subLR -[X in (X <= _)%N]add1n leq_add2r.
Qed.

Variant find_spec i : 'I_n.+1 -> Prop :=
  | Match j of is_match i j & (forall j', is_match i j' -> j' != j -> (order j' < order j)%N) :
      find_spec i j
  | NoMatch of (forall j, ~~ is_match i j) : find_spec i ord0.

Lemma findP i : find_spec i (find i).
Proof.
rewrite /find; case: pickP => [j /andP[match_j /forallP best] | none] /=.
  apply: Match => // j' match_j' ne; rewrite ltn_neqAle (inj_eq order_inj) ne /=.
  by have := best j'; rewrite match_j'.
apply: NoMatch => j0; apply/negP => match_j0.
case: (arg_maxnP order match_j0) => j match_j best; have := none j; rewrite match_j /=.
by case/negP; apply/forallP => j'; apply/implyP => /best.
Qed.

End Task.

(* With `latest`, find i is the largest match. *)
Lemma find_latest n tok (i : 'I_n.+1) :
  find tok false i = \max_(j < n.+1 | is_match tok i j) j :> nat.
Proof.
case: findP => [j match_j best | none]; last by rewrite big1 // => j /idP; rewrite (negPf (none j)).
apply/eqP; rewrite eqn_leq (bigmax_sup j) //=; apply/bigmax_leqP => j' match_j'.
by have [->//|/(best _ match_j')/ltnW] := eqVneq j' j.
Qed.

Section Model.
Variables (F : realFieldType) (V n r : nat).
Hypotheses (r_gt0 : (0 < r)%N) (V_codes : (V <= 2 ^ r)%N).
(* Distinct lattice points for the positions. *)
Variables (k : nat) (point : 'I_n.+1 -> 'rV[int]_k).
Hypothesis point_inj : injective point.
Variable tok : nat -> nat.
Hypothesis tok_lt : forall i, (tok i < V)%N.
Variables (first : bool) (c : F).
Hypothesis c_gt0 : 0 < c.
Implicit Types i j t : 'I_n.+1.

(* M = ceil((n + 1)/min(r, 2)). *)
Definition factor : nat := ((n + minn r 2) %/ minn r 2)%N.
Let M := factor.

Lemma factor_min : (n < M * minn r 2)%N.
Proof.
have m0 : (0 < minn r 2)%N by rewrite leq_min r_gt0.
by rewrite -(ltn_add2r (minn r 2)) -mulSnr ltn_ceil.
Qed.

Lemma factor_r : (n < M * r)%N.
Proof. by apply: leq_trans factor_min _; rewrite leq_mul2l geq_minl orbT. Qed.

Lemma factor_2 : (n < M * 2)%N.
Proof. by apply: leq_trans factor_min _; rewrite leq_mul2l geq_minr orbT. Qed.

(* The position before i; BOS for BOS. *)
Definition back i : 'I_n.+1 := inord i.-1.

Lemma backE i : back i = i.-1 :> nat.
Proof. by rewrite inordK // (leq_ltn_trans (leq_pred i)). Qed.

(* The embedding. *)
Definition token_code i : 'rV[F]_r := if i == ord0 then 0 else code F r (tok i).
Definition place i : 'rV[F]_k := real F (point i).
Definition before i : 'rV[F]_k := real F (point (back i)).
Definition rank i : F := (if i == ord0 then M * r else order first i)%N%:R.

(* Layer 1, previous token: query (2c before, -c), key (place, |place|^2), value code. *)
Definition previous_score i j : F := look_up c (before i) (place j).
Definition previous : 'I_n.+1 -> 'rV[F]_r := hardmax (@causal n) previous_score token_code.

(* Layer 2, match: query (M code, 1), key (previous, rank), value code. *)
Definition match_score i j : F := inner (M%:R *: token_code i) (previous j) + 1 * rank j.
Definition answer : 'I_n.+1 -> 'rV[F]_r := hardmax (@causal n) match_score token_code.

Lemma previous_found i : found (@causal n) previous_score c i (back i).
Proof.
split; first by rewrite /causal backE leq_pred.
by move=> j _ ne; apply: look_up_gap; [exact: ltW | rewrite (inj_eq point_inj)].
Qed.

Lemma previous_is i : previous i = token_code (back i).
Proof. exact: hardmax_found c_gt0 (previous_found i). Qed.

(* The inner product of the codes in layer 2, 0 for the positions 0 and 1. *)
Definition codes_score i j : F := if (j <= 1)%N then 0 else
  M%:R * inner (code F r (tok i)) (code F r (tok j.-1)).

Lemma match_scoreE i j : (0 < i)%N -> match_score i j = codes_score i j + rank j.
Proof.
move=> i0; have small : (back j == ord0) = (j <= 1)%N by rewrite -val_eqE /= backE -subn1 subn_eq0.
rewrite /match_score previous_is /token_code mul1r small -val_eqE /= (gtn_eqF i0) backE.
rewrite /codes_score; case: (_ <= _)%N; first by rewrite inner0.
by rewrite innerZl.
Qed.

(* BOS has the score M r. *)
Lemma score_of_BOS i : (0 < i)%N -> match_score i ord0 = (M * r)%:R.
Proof. by move=> i0; rewrite match_scoreE // /rank eqxx add0r. Qed.

(* A match has the score M r + order. *)
Lemma score_of_match i j : is_match tok i j -> match_score i j = (M * r + order first j)%:R.
Proof.
case/and3P=> j1 ji /eqP same; have i0 : (0 < i)%N by apply: leq_trans ji; apply: ltnW.
rewrite match_scoreE // /codes_score leqNgt j1 /= same inner_code_self -natrM natrD /rank.
by rewrite -val_eqE /= (gtn_eqF (ltnW j1)).
Qed.

(* Any other token has at most M r - 1. *)
Lemma score_of_others i j : (0 < i)%N -> (0 < j <= i)%N -> ~~ is_match tok i j ->
  match_score i j + 1 <= (M * r)%:R.
Proof.
move=> i0 /andP[j0 ji] not_match; have /andP[_ order_n] := order_bounds first j0.
have rank_n : rank j + 1 <= n.+1%:R :> F.
  by rewrite /rank -val_eqE /= (gtn_eqF j0) -natr_succ ler_add2r ler_nat.
rewrite match_scoreE // /codes_score; have [j1|j1] := leqP j 1.
  by rewrite add0r (le_trans rank_n) // ler_nat factor_r.
have other : inner (code F r (tok i)) (code F r (tok j.-1)) <= r%:R - 2%:R.
  apply: inner_code_other; try exact: leq_trans (tok_lt _) V_codes.
  by apply: contraNneq not_match => same; rewrite /is_match j1 ji same eqxx.
rewrite -addrA; apply: le_trans (ler_add (ler_wpmul2l (ler0n _ _) other) rank_n) _.
by rewrite mulrBr -!natrM -addrA ger_addl addrC subr_le0 ler_nat factor_2.
Qed.

(* The theorem: at every token the largest score is at the match that the task defines, or at BOS
   if there is none, and it exceeds all other scores by at least 1. *)
Theorem match_found i : (0 < i)%N -> found (@causal n) match_score 1 i (find tok first i).
Proof.
move=> i0; case: findP => [t match_t best | none]; split=> //=; first by case/and3P: match_t.
- move=> j ji ne; rewrite (score_of_match match_t).
  have [->|j0] := eqVneq j ord0.
    rewrite score_of_BOS // natr_succ ler_nat -addn1 leq_add2l.
    by case/and3P: match_t => t1 _ _; case/andP: (order_bounds first (ltnW t1)).
  have [match_j|not_match] := boolP (is_match tok i j).
    by rewrite (score_of_match match_j) natr_succ ler_nat -addnS leq_add2l best.
  apply: le_trans (score_of_others i0 _ not_match) _; last by rewrite ler_nat leq_addr.
  by rewrite lt0n -(inj_eq val_inj) in j0 *; rewrite j0.
- move=> j ji j0; rewrite score_of_BOS //; apply: score_of_others => //.
  by rewrite lt0n; apply/andP.
Qed.

(* So layer 2 writes the code of the answer, or 0. *)
Theorem answer_is i : (0 < i)%N -> answer i = token_code (find tok first i).
Proof. by move=> i0; apply: hardmax_found ltr01 (match_found i0). Qed.

(* The unembedding: the logit of v is <answer, b(v)>, and the logit of "no match" is r/2.  The
   right logit exceeds the others by min(r/2, 2) at least. *)
Definition logit i (v : nat) : F := inner (answer i) (code F r v).

Let token_code_pos i : i != ord0 -> token_code i = code F r (tok i).
Proof. by rewrite /token_code => /negPf->. Qed.

Let short v : (v < V)%N -> (v < 2 ^ r)%N.
Proof. by move=> v_lt; apply: leq_trans v_lt V_codes. Qed.

Let square x a : code F r x 0 a * code F r x 0 a = 1.
Proof. by rewrite !mxE; case: bit; rewrite ?mulrNN mulr1. Qed.

Let opposite x y a : -1 <= code F r x 0 a * code F r y 0 a.
Proof.
rewrite !mxE; case: bit; case: bit; rewrite ?mulrNN ?mulrN ?mulNr mulr1 //;
  by rewrite (le_trans (lerN10 F)) ?ler01.
Qed.

Theorem logits_of_a_match i : (0 < i)%N -> find tok first i != ord0 ->
  logit i (tok (find tok first i)) = r%:R /\
  forall v, (v < V)%N -> v != tok (find tok first i) -> logit i v + 2%:R <= r%:R.
Proof.
move=> i0 some; rewrite /logit answer_is // token_code_pos //; split; first exact: inner_code_self.
move=> v v_lt ne; rewrite -(inner_code_self F r (tok (find tok first i))).
by apply: code_decoded => // [||a]; rewrite ?square //; apply: short.
Qed.

Theorem logits_without_match i v : (0 < i)%N -> find tok first i = ord0 -> logit i v = 0.
Proof.
by move=> i0 none; rewrite /logit answer_is // none /token_code eqxx innerC inner0.
Qed.

(* If the token itself is the answer where there is no match, 2 answer + code is decoded. *)
Definition self_logit i (v : nat) : F :=
  inner (2%:R *: answer i + token_code i) (code F r v).

Theorem self_logits i v : (0 < i)%N ->
  let x := if find tok first i == ord0 then tok i else tok (find tok first i) in
  (v < V)%N -> v != x -> self_logit i v + 2%:R <= self_logit i x.
Proof.
move=> i0 x v_lt vx; apply: code_decoded => //; try exact: short.
  by apply: short; rewrite /x; case: eqP.
have i_pos : i != ord0 by rewrite -val_eqE /= -lt0n.
move=> a; rewrite answer_is // (token_code_pos i_pos).
rewrite /x; have [->|some] := eqVneq (find tok first i) ord0.
  by rewrite /token_code eqxx scaler0 add0r square.
have one : 1 = 2%:R + -1 :> F by rewrite mulr2n addrK.
by rewrite [X in X <= _]one token_code_pos // mxE mxE mulrDl -mulrA square mulr1 ler_add2l opposite.
Qed.

(* The gap of 1 is attained, so no larger gap holds: for i = 3, 4, ... equal tokens, the latest
   match of token i is i itself, and the match before it has a score less by 1. *)
Section Sharp.
Variable i : 'I_n.+1.
Hypotheses (latest : first = false) (i_gt2 : (2 < i)%N) (equal : forall x : nat, tok x = tok 0).

Let i_gt0 : (0 < i)%N. Proof. exact: ltn_trans i_gt2. Qed.

Let match_i : is_match tok i i.
Proof. by rewrite /is_match (ltnW i_gt2) leqnn (equal i) (equal i.-1) eqxx. Qed.

Let match_back : is_match tok i (back i).
Proof.
rewrite /is_match backE -(ltn_add2r 1) !addn1 prednK // i_gt2 leq_pred.
by rewrite (equal i) (equal i.-1.-1) eqxx.
Qed.

Lemma gap_is_1 : match_score i i = match_score i (back i) + 1.
Proof. by rewrite !score_of_match // latest /order backE natr_succ -addnS prednK. Qed.

Theorem gap_2_fails j : ~ found (@causal n) match_score 2%:R i j.
Proof.
have not_2 (x y : F) : x = y + 1 -> ~ (y + 2%:R <= x) by move=> ->; rewrite ler_add2l lern1.
case=> mask_j best; have [eq_ij|ne_ij] := eqVneq j i.
  case: (not_2 _ _ gap_is_1); rewrite eq_ij in best.
  apply: best; first by rewrite /causal backE leq_pred.
  by rewrite -val_eqE /= backE neq_ltn prednK ?leqnn.
have [_ best_find] := match_found i_gt0.
have find_i : find tok first i = i.
  case: findP => [t match_t max_t | none]; last by have := none i; rewrite match_i.
  apply/eqP/negPn/negP; rewrite eq_sym => /(max_t _ match_i); rewrite latest /order ltnNge.
  by case/and3P: match_t => _ ->.
have := best_find j mask_j; rewrite find_i => /(_ ne_ij) less.
have := best i (leqnn i); rewrite eq_sym => /(_ ne_ij) more.
have less' : match_score i j <= match_score i i by apply: le_trans less; rewrite ler_addl ler01.
by have := le_trans more less'; rewrite ger_addl lern0.
Qed.

End Sharp.

End Model.

Print Assumptions find_latest.
Print Assumptions previous_found.
Print Assumptions match_found.
Print Assumptions answer_is.
Print Assumptions logits_of_a_match.
Print Assumptions logits_without_match.
Print Assumptions self_logits.
Print Assumptions gap_2_fails.
