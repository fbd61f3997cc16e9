(* The layers of the ladder from M_0 = alpha S that write w = S R x and f = x^T R b, beside u, e and
   s.  See constructions/regression/ladder_gram.py:

     w_m     = sum_i e_(a,i) <e_(a,i), e_b>       w_(m+1) = w_m - alpha sum_i w_(a,i) <w_(a,i), e_b>
     f_m     = sum_i s_(a,i) <e_(a,i), e_b>       f_(m+1) = f_m - alpha sum_i f_(a,i) <w_(a,i), e_b>

   Only the slot low stores w and f. *)

From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import linear_heads reading ring_identities ladder_terms ladder_layers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Images.

Variables (R : comRingType) (alpha : R).

Let P := poly_comRingType R.
Add Ring poly_ring : (commutative_ring P).

Notation layer := (layer R vector_eqType scalar_eqType).
Notation formulas := (formulas R vector_eqType scalar_eqType).

(* The residual E = I - alpha S^2 of exponent 1. *)
Definition E2 : {poly R} := 1 - alpha *: 'X ^+ 2.

(* w and f in the slot low, from exponents a and b, and from one more factor E. *)
Definition image_layer (a b : slot) (more : bool) : layer :=
  Layer
    (Head [:: (1, e b, e a)] [:: (1, e a, w low)] [:: (1, s a, f low)] ::
     if more then [:: Head [:: (1, e b, w a)] [:: (- alpha, w a, w low)] [:: (- alpha, f a, f low)]]
     else [::])
    [:: (- 1, w low, w low)] [:: (- 1, f low, f low)].

(* The registers w and f of the slot low, which no other part of a layer changes. *)
Lemma image_others a b more F r : r != w low -> adds_p (image_layer a b more) F r = 0.
Proof.
rewrite /adds_p; case: r => [|[]|[]|[]] // _;
by case: more; rewrite /= ?big_cons ?big_nil /= ?addr0 ?mulr0 ?addr0.
Qed.

Lemma image_other_scalars a b more F r : r != f low ->
  adds_a (image_layer a b more) F r = 0 /\ adds_g (image_layer a b more) F r = 0.
Proof.
rewrite /adds_a /adds_g; case: r => [|[]|[]] // _;
by case: more; rewrite /= ?big_cons ?big_nil /= ?addr0 ?mulr0 ?addr0.
Qed.

(* w = S R x and f = x^T R b for R = R_a^2 R_b, or for R = R_a^2 R_b (1 - alpha S^2). *)
Lemma image_contains F o o' (more : bool) (l : layer) (R' : {poly R}) :
  contains_inputs F -> contains_residual F o -> (more -> contains_image F o) ->
  R' = p F (e o) ^+ 2 * p F (e o') * (if more then E2 else 1) ->
  adds_p l F (w low) = adds_p (image_layer o o' more) F (w low) ->
  adds_a l F (f low) = adds_a (image_layer o o' more) F (f low) ->
  adds_g l F (f low) = adds_g (image_layer o o' more) F (f low) ->
  p (read_layer F l) (e low) = R' -> contains_image (read_layer F l) low.
Proof.
move=> [px ay gy] [uo so go] image -> same_w same_a same_g e_is.
have pE r : p (read_layer F l) r = p F r + adds_p l F r by rewrite /adds_p addrA.
have aE r : a (read_layer F l) r = a F r + adds_a l F r by [].
have gE r : g (read_layer F l) r = g F r + adds_g l F r by rewrite /adds_g addrA.
split; rewrite ?e_is ?pE ?aE ?gE ?same_w ?same_a ?same_g /adds_p /adds_a /adds_g.
- case: more image {pE aE gE e_is same_w same_a same_g} => [[] // wo _ _|_]; evaluate.
    by rewrite wo /E2; evaluate; in_ring P; ring.
  by in_ring P; ring.
- by rewrite /= ?eqxx addr0 scaleN1r subrr.
case: more image {pE aE gE e_is same_w same_a same_g} => [[] // wo fo gf|_]; evaluate.
  rewrite wo fo gf so go /E2; move: uo; evaluate; in_ring P => uo; ring [uo].
by rewrite so go; move: uo; evaluate; in_ring P => uo; ring [uo].
Qed.

(* What a layer adds, if it writes w and f too. *)
Lemma with_image_contains F ts o o' (more : bool) :
  contains_inputs F -> contains_sources F ts -> \sum_(t <- ts) factor t = 1 ->
  contains_residual F o -> (more -> contains_image F o) ->
  residual_of F ts = p F (e o) ^+ 2 * p F (e o') * (if more then E2 else 1) ->
  let F' := read_layer F (beside (ladder_layer ts None) (image_layer o o' more)) in
  [/\ contains_inputs F', contains_residual F' low, p F' (e low) = residual_of F ts
    & contains_image F' low].
Proof.
move=> inputs contain sum_1 at_o image res.
have none r : r != w low -> adds_p (image_layer o o' more) F r = 0 by exact: image_others.
have none' r := @image_other_scalars o o' more F r.
set l := beside _ _.
have [at_low e_is] : contains_residual (read_layer F l) low /\
    p (read_layer F l) (e low) = residual_of F ts.
  apply: rung_contains; rewrite // /l ?adds_p_beside ?adds_a_beside ?adds_g_beside.
  - by rewrite none // addr0.
  - by rewrite none // addr0.
  - by rewrite (proj1 (none' (s low) isT)) addr0.
  - by rewrite (proj2 (none' (s low) isT)) addr0.
split=> //.
  have [ya yg] := @rung_other_scalars _ F low ts y isT.
  apply: inputs_unchanged => //; rewrite /l ?adds_p_beside ?adds_a_beside ?adds_g_beside /=.
  - by rewrite none // rung_others // addr0.
  - by rewrite ya (proj1 (none' y isT)) addr0.
  - by rewrite yg (proj2 (none' y isT)) addr0.
have [fa fg] := @rung_other_scalars _ F low ts (f low) isT.
apply: (image_contains inputs at_o image res) e_is; rewrite /l.
- by rewrite adds_p_beside /= rung_others // add0r.
- by rewrite adds_a_beside /= fa add0r.
- by rewrite adds_g_beside /= fg add0r.
Qed.

End Images.
