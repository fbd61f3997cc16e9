(* Chebyshev's method: the residual T_k(l)/tau_k in ceil(log_3(2k + 1)) layers of linear heads, for
   all d, n, k, X, y and x.  See constructions/regression/chebyshev.py; the terms of each degree are
   in chebyshev_terms.v.

   Let M_L = (3^L - 1)/2 and q = floor((n + 1)/3).  If n <= M_L = 3 M_(L-1) + 1, then q <= M_(L-1),
   so L layers compute every pair of degrees n - 1, n with n <= M_L. *)

From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import linear_heads reading ladder_terms ladder_layers.
From weightwright Require Import ladder chebyshev chebyshev_terms.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Method.
Variables (R : comRingType) (alpha sigma : R).
Local Notation tau := (T sigma).
Variable inv_tau : nat -> R.
Hypothesis one_is : forall n, tau n * inv_tau n = 1.
Local Notation Res := (chebyshev_residual alpha sigma inv_tau).
Local Notation chebyshev_terms := (chebyshev_terms alpha sigma inv_tau).
Local Notation contains_degrees := (contains_degrees alpha sigma inv_tau).

Lemma chebyshev_below_reached (t : level) L :
  (top t <= reach L.+1)%N -> (top (chebyshev_below t) <= reach L)%N.
Proof.
move=> reached; have q_le : (largest_below t <= reach L)%N.
  by rewrite /largest_below -ltnS ltn_divLR // mulSn mulnC add3n ltnS; apply: leq_trans reached _.
rewrite /chebyshev_below; case: ifP => [_|/norP[q0 _]]; rewrite /top /= ?addn0 //.
by rewrite addn1 prednK ?lt0n.
Qed.

Fixpoint chebyshev_plan (L : nat) (t : level) : seq (layer R vector_eqType scalar_eqType) :=
  if L is K.+1 then
    let b := chebyshev_below t in
    rcons (chebyshev_plan K b)
          (ladder_layer (chebyshev_terms b t.1)
                        (if t.2 then Some (chebyshev_terms b t.1.+1) else None))
  else [::].

Lemma chebyshev_plan_computes L (t : level) :
  (top t <= reach L)%N -> contains_degrees (after_layers (chebyshev_plan L t)) t.
Proof.
elim: L t => [|L IH] t reached.
  case: t reached => n two; rewrite /top leqn0 addn_eq0 /= => /andP[/eqP ->].
  case: two => // _.
  have [inputs at_low e_1] := @ladder_begins R; split=> //.
  by rewrite e_1 /chebyshev_residual -[inv_tau 0]mul1r (one_is 0) scale1r.
rewrite /after_layers /= -cats1 foldl_cat /= -/(after_layers _).
have at_below := IH _ (chebyshev_below_reached reached); have [inputs _ _ _] := at_below.
set f := after_layers _ in at_below inputs *; set b := chebyshev_below t.
have rung n : n = t.1 \/ t.2 /\ n = t.1.+1 ->
    contains_sources f (chebyshev_terms b n) /\
    residual_of f (chebyshev_terms b n) = Res n.
  move=> which; split; last exact: (chebyshev_terms_residual one_is).
  exact: chebyshev_terms_sources.
have [low_sources low_is] := rung t.1 (or_introl erefl).
have factors n := chebyshev_terms_factors alpha sigma inv_tau b n.
split.
- exact: layer_inputs.
- exact: (proj1 (layer_low _ inputs low_sources (factors _))).
- by rewrite (proj2 (layer_low _ inputs low_sources (factors _))).
move=> two; have [high_sources high_is] := rung t.1.+1 (or_intror (conj two erefl)).
by rewrite two -high_is; exact: layer_high.
Qed.

(* k steps of Chebyshev's method: the number of layers is exact. *)
Definition chebyshev_program (k : nat) : program R vector_eqType scalar_eqType :=
  ladder (chebyshev_plan (up_log 3 (2 * k).+1) (k, false)).

Theorem chebyshev_layers k : size (layers (chebyshev_program k)) = up_log 3 (2 * k).+1.
Proof.
rewrite /chebyshev_program number_of_layers; move: (up_log _ _) (k, false) => L t.
by elim: L t => //= L IH t; rewrite size_rcons IH.
Qed.

(* The prediction's polynomial Q satisfies t Q = 1 - R_k. *)
Lemma chebyshev_formula k : 'X * read_prediction (chebyshev_program k) = 1 - Res k.
Proof.
rewrite /chebyshev_program ladder_prediction.
have reached : (top (k, false) <= reach (up_log 3 (2 * k).+1))%N.
  by rewrite /top addn0 -layers_of_ladder up_logP.
by case: (chebyshev_plan_computes reached) => _ [u_is _ ->] <- _; rewrite opprK u_is.
Qed.

(* Hence the prediction is x^T Q(S) X^T y for the polynomial Q with t Q = 1 - T_k(l)/tau_k, for all
   d, n, k, X, y and x. *)
Theorem chebyshev_predicts k (Q : {poly R}) : 'X * Q = 1 - Res k ->
  forall d n (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1),
  prediction (chebyshev_program k) X labels query =
  (query *m horner_mx (X^T *m X) Q *m (X^T *m labels)) 0 0.
Proof.
move=> Q_is d n X labels query; rewrite prediction_is_read; congr ((_ *m horner_mx _ _ *m _) 0 0).
by apply: (monic_lreg (monicX R)); rewrite chebyshev_formula Q_is.
Qed.

End Method.

(* For eigenvalues in [a, b], 0 < a < b, sigma = (b + a)/(b - a) is above 1, and tau_n >= 1: so the
   hypothesis of the method holds with inv_tau n = 1/tau_n. *)
Section Intervals.
Import Num.Theory Order.Theory.
Variables (F : realFieldType) (sigma : F).
Hypothesis sigma_ge1 : 1 <= sigma.

Lemma tau_grows n : 1 <= T sigma n <= T sigma n.+1.
Proof.
elim: n => [|n /andP[one grows]]; first by rewrite T0 T1 lexx.
have next_ge1 := le_trans one grows; rewrite next_ge1 T_step mulrDl -addrA /=.
have larger : T sigma n.+1 <= sigma * T sigma n.+1 by rewrite ler_pemull // (le_trans ler01).
rewrite -[X in X <= _]addr0 ler_add // subr_ge0.
exact: le_trans larger.
Qed.

Theorem tau_invertible n : T sigma n * (T sigma n)^-1 = 1.
Proof. by rewrite divff // gt_eqF // (lt_le_trans ltr01) //; case/andP: (tau_grows n). Qed.

End Intervals.

Print Assumptions chebyshev_layers.
Print Assumptions chebyshev_predicts.
Print Assumptions tau_invertible.
