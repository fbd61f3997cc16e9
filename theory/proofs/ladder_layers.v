(* The layers of the ladders: sums of terms that are written to one slot or to two, and programs of
   such layers.  See constructions/regression/ladder_layers.py; the terms are in ladder_terms.v. *)

From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import linear_heads reading ladder_terms.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Layers.

Variable R : comRingType.

Notation layer := (layer R vector_eqType scalar_eqType).
Notation formulas := (formulas R vector_eqType scalar_eqType).
Notation term := (term R).

Definition sources (ts : seq term) : seq slot := flatten [seq slots_of t | t <- ts].
Definition images (ts : seq term) : seq slot := flatten [seq images_of t | t <- ts].
Definition contains_sources (F : formulas) (ts : seq term) :=
  contains_slots F (sources ts) (images ts).
Definition residual_of (F : formulas) (ts : seq term) := \sum_(t <- ts) residual F t.

Section Rung.

Variables (F : formulas) (o : slot).
Hypothesis inputs : contains_inputs F.

Lemma clear_others r : r != u o -> r != e o -> adds_p (clear o) F r = 0.
Proof.
by rewrite /adds_p /= big_nil; case: o; case: r => [|[]|[]|[]] // _ _; rewrite /= !addr0.
Qed.

Lemma rung_others ts r : r != u o -> r != e o -> adds_p (rung o ts) F r = 0.
Proof.
rewrite /rung => not_u not_e; elim: ts => [|t ts IH] /=; first exact: clear_others.
by rewrite adds_p_beside IH term_others // addr0.
Qed.

Lemma rung_other_scalars ts r :
  r != s o -> adds_a (rung o ts) F r = 0 /\ adds_g (rung o ts) F r = 0.
Proof.
rewrite /rung => not_s; elim: ts => [|t ts [IHa IHg]] /=.
  rewrite /adds_a /adds_g /= big_nil.
  by move: not_s; case: o; case: r => [|[]|[]] //; rewrite /= !addr0.
have [ta tg] := term_other_scalars t F not_s.
by rewrite adds_a_beside adds_g_beside IHa IHg ta tg !addr0.
Qed.

Let first t ts : contains_sources F (t :: ts) -> contains_slots F (slots_of t) (images_of t).
Proof.
by case=> slots imgs; split=> a at_a; [apply: slots | apply: imgs];
  rewrite /sources /images /= mem_cat at_a.
Qed.

Let others t ts : contains_sources F (t :: ts) -> contains_sources F ts.
Proof.
by case=> slots imgs; split=> a at_a; [apply: slots | apply: imgs];
  rewrite /sources /images /= mem_cat at_a orbT.
Qed.

Lemma rung_e ts : contains_sources F ts ->
  adds_p (rung o ts) F (e o) = residual_of F ts - p F (e o).
Proof.
rewrite /rung /residual_of; elim: ts => [|t ts IH] contain /=.
  by rewrite /adds_p /= !big_nil eqxx scaleN1r !add0r !addr0.
rewrite adds_p_beside (IH (others contain)) big_cons (term_e inputs (first contain)).
by rewrite addrA.
Qed.

Lemma rung_u ts : contains_sources F ts ->
  'X * (p F (u o) + adds_p (rung o ts) F (u o)) = (\sum_(t <- ts) factor t)%:P - residual_of F ts.
Proof.
rewrite /rung /residual_of; elim: ts => [|t ts IH] contain /=.
  by rewrite /adds_p /= !big_nil eqxx scaleN1r !addr0 subrr mulr0 polyC0 subr0.
rewrite adds_p_beside addrCA mulrDr (IH (others contain)) (term_u inputs (first contain)).
by rewrite !big_cons polyCD opprD addrACA.
Qed.

Lemma rung_s ts : contains_sources F ts ->
  a F (s o) + adds_a (rung o ts) F (s o) = \sum_(t <- ts) factor t.
Proof.
rewrite /rung; elim: ts => [|t ts IH] contain /=.
  by rewrite /adds_a /= eqxx scaleN1r addr0 subrr big_nil.
rewrite adds_a_beside addrCA (IH (others contain)) (term_s (first contain)).
by rewrite big_cons.
Qed.

Lemma rung_g ts : contains_sources F ts ->
  g F (s o) + adds_g (rung o ts) F (s o) = - (p F (u o) + adds_p (rung o ts) F (u o)).
Proof.
rewrite /rung; elim: ts => [|t ts IH] contain /=.
  by rewrite /adds_p /adds_g /= !big_nil !eqxx !scaleN1r !addr0 !subrr oppr0.
rewrite adds_g_beside adds_p_beside addrCA (IH (others contain)) (term_g inputs (first contain)).
by rewrite -opprD addrCA.
Qed.

(* So the slot contains the residual of the sum of the terms. *)
Lemma rung_contains ts (l : layer) :
  contains_sources F ts -> \sum_(t <- ts) factor t = 1 ->
  adds_p l F (u o) = adds_p (rung o ts) F (u o) -> adds_p l F (e o) = adds_p (rung o ts) F (e o) ->
  adds_a l F (s o) = adds_a (rung o ts) F (s o) -> adds_g l F (s o) = adds_g (rung o ts) F (s o) ->
  contains_residual (read_layer F l) o /\ p (read_layer F l) (e o) = residual_of F ts.
Proof.
move=> contain sum_1 same_u same_e same_s same_g.
have pE r : p (read_layer F l) r = p F r + adds_p l F r by rewrite /adds_p addrA.
have aE r : a (read_layer F l) r = a F r + adds_a l F r by [].
have gE r : g (read_layer F l) r = g F r + adds_g l F r by rewrite /adds_g addrA.
have e_is : p (read_layer F l) (e o) = residual_of F ts.
  by rewrite pE same_e (rung_e contain) addrC subrK.
split=> //; split; rewrite ?e_is.
- by rewrite pE same_u (rung_u contain) sum_1 polyC1.
- by rewrite aE same_s (rung_s contain) sum_1.
- by rewrite gE same_g (rung_g contain) pE same_u.
Qed.

End Rung.

(* A layer with one rung, which stores one residual, or with two. *)
Definition ladder_layer (lows : seq term) (highs : option (seq term)) : layer :=
  if highs is Some ts then beside (rung low lows) (rung high ts) else rung low lows.

Lemma inputs_unchanged (F : formulas) l :
  adds_p l F x = 0 -> adds_a l F y = 0 -> adds_g l F y = 0 ->
  contains_inputs F -> contains_inputs (read_layer F l).
Proof.
move=> px ay gy [px' ay' gy']; split=> /=.
- by rewrite -addrA -/(adds_p l F x) px addr0.
- by rewrite -/(adds_a l F y) ay addr0.
- by rewrite -addrA -/(adds_g l F y) gy addr0.
Qed.

(* The layer changes x and y in no way, and each slot by the terms of its rung. *)
Lemma layer_inputs F lows highs :
  contains_inputs F -> contains_inputs (read_layer F (ladder_layer lows highs)).
Proof.
have gone o ts : [/\ adds_p (rung o ts) F x = 0, adds_a (rung o ts) F y = 0
                   & adds_g (rung o ts) F y = 0].
  have [-> ->] : adds_a (rung o ts) F y = 0 /\ adds_g (rung o ts) F y = 0.
    exact: rung_other_scalars.
  by rewrite rung_others.
have unchanged := @inputs_unchanged F.
have [p1 a1 g1] := gone low lows; case: highs => [ts|]; last exact: unchanged.
have [p2 a2 g2] := gone high ts; apply: unchanged; rewrite /=.
- by rewrite adds_p_beside p1 p2 addr0.
- by rewrite adds_a_beside a1 a2 addr0.
- by rewrite adds_g_beside g1 g2 addr0.
Qed.

Lemma layer_low F lows highs :
  contains_inputs F -> contains_sources F lows ->
  \sum_(t <- lows) factor t = 1 ->
  let F' := read_layer F (ladder_layer lows highs) in
  contains_residual F' low /\ p F' (e low) = residual_of F lows.
Proof.
move=> inputs contain sum_1; apply: rung_contains => //; case: highs => [ts|] //=.
- by rewrite adds_p_beside [X in _ + X]rung_others // addr0.
- by rewrite adds_p_beside [X in _ + X]rung_others // addr0.
- by rewrite adds_a_beside (proj1 (@rung_other_scalars F high ts (s low) _)) // addr0.
- by rewrite adds_g_beside (proj2 (@rung_other_scalars F high ts (s low) _)) // addr0.
Qed.

Lemma layer_high F lows ts :
  contains_inputs F -> contains_sources F ts ->
  \sum_(t <- ts) factor t = 1 ->
  let F' := read_layer F (ladder_layer lows (Some ts)) in
  contains_residual F' high /\ p F' (e high) = residual_of F ts.
Proof.
move=> inputs contain sum_1; apply: rung_contains => //=.
- by rewrite adds_p_beside rung_others // add0r.
- by rewrite adds_p_beside rung_others // add0r.
- by rewrite adds_a_beside (proj1 (@rung_other_scalars F low lows (s high) _)) // add0r.
- by rewrite adds_g_beside (proj2 (@rung_other_scalars F low lows (s high) _)) // add0r.
Qed.

(* The last layer writes s alone, because the unembedding reads only s. *)
Definition only_scalars (l : layer) : layer :=
  Layer [seq Head (scores h) [::] (scalars h) | h <- heads l] [::] (own_scalars l).

Lemma only_scalars_g l F r : g (read_layer F (only_scalars l)) r = g (read_layer F l) r.
Proof. by rewrite /= big_map. Qed.

(* A ladder: layers, the last of which writes s alone, and the prediction -s. *)
Definition ladder (ls : seq layer) : program R vector_eqType scalar_eqType :=
  Program [:: (1, tt, x); (1, tt, e low)] [:: (1, tt, y); (1, tt, s low)]
    (if rev ls is l :: ls' then rev (only_scalars l :: ls') else [::])
    [:: (- 1, s low, tt)].

Definition after_layers (ls : seq layer) : formulas :=
  foldl (@read_layer _ _ _) (read_embedding (ladder [::])) ls.

Lemma number_of_layers ls : size (layers (ladder ls)) = size ls.
Proof. by case: (lastP ls) => [|ls' l] //=; rewrite rev_rcons size_rev /= size_rev size_rcons. Qed.

Lemma ladder_prediction ls : read_prediction (ladder ls) = - g (after_layers ls) (s low).
Proof.
rewrite /read_prediction /read take_size /after_layers /= addr0 scaleN1r; congr (- _).
case: (lastP ls) => [|ls' l] //=; rewrite rev_rcons rev_cons revK.
by rewrite -!cats1 !foldl_cat; exact: only_scalars_g.
Qed.

(* Exponent 0 is written by the embedding: u = 0, e = x, s = y. *)
Lemma ladder_begins :
  [/\ contains_inputs (after_layers [::]), contains_residual (after_layers [::]) low
    & p (after_layers [::]) (e low) = 1].
Proof.
rewrite /after_layers /=; split; last by rewrite /= add0r addr0 scale1r.
- by split; rewrite /= ?addr0 ?scale1r.
- by split; rewrite /= ?addr0 ?add0r ?scale1r ?subrr ?mulr0 ?oppr0.
Qed.

End Layers.
