(* k steps of gradient descent in k layers of one linear head, for all d, n, k, X, y and x.  See
   constructions/regression/gradient_descent.py [vonOswald2023, Proposition 1].

   The algorithm: w <- w - eta (S w - b) from w = 0.  The register e contains the residual
   y_t - <w, x_t> on examples and -<w, x> on queries.  For w = 0 the embedding writes it.  A step
   changes w by eta sum_i e_i x_i, so it changes every e_t by -eta sum_i e_i <x_i, x_t>, which is
   one head.  The prediction is -e. *)

From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import linear_heads reading.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section GradientDescent.

Variables (R : comRingType) (eta : R).

(* One vector register, x, and one scalar register, e. *)
Notation x := tt.
Notation e := tt.

Definition descent_layer : layer R unit_eqType unit_eqType :=
  Layer [:: Head [:: (1, x, x)] [::] [:: (- eta, e, e)]] [::] [::].

Definition gradient_descent (k : nat) : program R unit_eqType unit_eqType :=
  Program [:: (1, tt, x)] [:: (1, tt, e)] (nseq k descent_layer) [:: (- 1, e, tt)].

Theorem descent_layers k : size (layers (gradient_descent k)) = k.
Proof. exact: size_nseq. Qed.

(* The weights w_k, and the polynomial q_k with w_k = q_k(S) b. *)
Fixpoint weights d (S : 'M[R]_d) (b : 'cV[R]_d) (k : nat) : 'cV[R]_d :=
  if k is j.+1 then weights S b j - eta *: (S *m weights S b j - b) else 0.

Fixpoint descent_polynomial (k : nat) : {poly R} :=
  if k is j.+1 then descent_polynomial j - eta *: ('X * descent_polynomial j - 1) else 0.

Lemma weights_at_S d (S : 'M[R]_d.+1) b k :
  weights S b k = horner_mx S (descent_polynomial k) *m b.
Proof.
elim: k => [|k IH] /=; first by rewrite rmorph0 mul0mx.
have -> q : horner_mx S (q - eta *: ('X * q - 1)) = horner_mx S q - eta *: (S * horner_mx S q - 1).
  by rewrite linearB linearZ linearB /= rmorphM rmorph1 /= horner_mx_X.
by rewrite mulmxBl -scalemxAl mulmxBl mul1mx -mulmxE -mulmxA -IH.
Qed.

(* The layer invariant: x is unchanged, and e = y - <w_k, x>. *)
Definition after_descent (k : nat) (f : formulas R unit_eqType unit_eqType) :=
  [/\ p f x = 1, a f e = 1 & g f e = - descent_polynomial k].

Lemma reading_of_descent k :
  after_descent k (foldl (@read_layer _ _ _) (read_embedding (gradient_descent k))
                         (nseq k descent_layer)).
Proof.
have layers_repeat f : foldl (@read_layer _ _ _) f (nseq k descent_layer) =
                       iter k (fun f => read_layer f descent_layer) f.
  by elim: k f => //= k IH f; rewrite IH -iterSr.
rewrite {}layers_repeat; elim: {1 2}k => [|j] /=.
  by split; rewrite /= ?scale1r ?addr0 ?oppr0.
case: (iter _ _ _) => p a g [/= px ae ge]; split=> /=.
- by rewrite big_seq1 /= mulr0 !addr0.
- by rewrite addr0.
rewrite big_seq1 /kernel big_seq1 /= px ae ge mulr1 !addr0 scale1r mul1r.
by rewrite mulrN opprD opprK scaleNr -scalerN opprB.
Qed.

Lemma formula_of_descent k : read_prediction (gradient_descent k) = descent_polynomial k.
Proof.
rewrite /read_prediction /read take_size /= addr0.
by case: (reading_of_descent k) => _ _ ->; rewrite scaleN1r opprK.
Qed.

(* The prediction is <w_k, x>, for all d, n, k, X, y and x. *)
Theorem gradient_descent_predicts k d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) :
  prediction (gradient_descent k) X labels query =
  (query *m weights (X^T *m X) (X^T *m labels) k) 0 0.
Proof. by rewrite prediction_is_read formula_of_descent weights_at_S !mulmxA. Qed.

End GradientDescent.

Print Assumptions descent_layers.
Print Assumptions gradient_descent_predicts.
