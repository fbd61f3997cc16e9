(* Hyperpower iterations, Newton-Schulz among them, and gradient descent: after k steps the residual
   is a power of the first one.  See theory/regression/hyperpower.py, theory/regression/newton.py
   and constructions/regression/gradient_descent.py.

   Everything holds in any ring, whether S and M0 commute or not; the ring of d x d matrices
   over a commutative ring is the one of the constructions. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Residuals.
Variables (A : ringType) (S M0 : A).

(* A residual, and the matrix G_N of the docstring of ladder.py: M0 (1 + E + ... + E^(N-1)). *)
Definition residual (M : A) : A := 1 - S * M.
Definition inverse (N : nat) : A := M0 * \sum_(i < N) residual M0 ^+ i.

Lemma inverse1 : inverse 1 = M0.
Proof. by rewrite /inverse big_ord1 expr0 mulr1. Qed.

(* S M0 = 1 - E, and (1 - E)(1 + E + ... + E^(N-1)) telescopes to 1 - E^N. *)
Lemma residual_inverse N : residual (inverse N) = residual M0 ^+ N.
Proof.
have S_M0 : S * M0 = - (residual M0 - 1) by rewrite /residual opprB subKr.
by rewrite {1}/residual /inverse mulrA S_M0 mulNr -subrX1 opprK addrC subrK.
Qed.

(* One sum of N p powers is a sum of p sums of N powers. *)
Lemma inverse_mul N p :
  inverse (N * p) = inverse N * \sum_(i < p) (residual M0 ^+ N) ^+ i.
Proof.
elim: p => [|p IH]; first by rewrite muln0 /inverse !big_ord0 !mulr0.
rewrite big_ord_recr /= mulrDr -IH /inverse mulnS addnC -exprM -mulrA -mulrDr.
rewrite big_split_ord /= mulr_suml; congr (_ * (_ + _)).
by apply: eq_bigr => i _; rewrite addnC exprD.
Qed.

(* A step of order p. *)
Definition step (p : nat) (M : A) : A := M * \sum_(i < p) residual M ^+ i.

Lemma step_inverse p N : step p (inverse N) = inverse (N * p).
Proof. by rewrite /step residual_inverse inverse_mul. Qed.

(* The first theorem: k steps of order p compute G_N with N = p^k. *)
Theorem hyperpower p k : iter k (step p) M0 = inverse (p ^ k).
Proof.
elim: k => [|k IH]; first by rewrite expn0 inverse1.
by rewrite iterS IH step_inverse expnSr.
Qed.

(* A step raises the residual to the power p. *)
Corollary hyperpower_residual p k :
  residual (iter k (step p) M0) = residual M0 ^+ (p ^ k).
Proof. by rewrite hyperpower residual_inverse. Qed.

(* Order 2 is Newton-Schulz. *)
Definition newton_step (M : A) : A := M *+ 2 - M * S * M.

Lemma newton_is_order_2 M : newton_step M = step 2 M.
Proof.
rewrite /newton_step /step !big_ord_recl big_ord0 expr0 expr1 addr0 /residual.
by rewrite mulrDr mulr1 mulrBr mulr1 mulrA addrA -mulr2n.
Qed.

Corollary newton k : iter k newton_step M0 = inverse (2 ^ k).
Proof. by rewrite -hyperpower; apply: eq_iter => M; apply: newton_is_order_2. Qed.

End Residuals.

(* Gradient descent for least squares, w <- w - alpha (S w - b) from w = 0, from G_k with
   M0 = alpha 1. *)
Section GradientDescent.
Variables (R : comRingType) (d : nat) (S : 'M[R]_d.+1) (b : 'cV[R]_d.+1) (alpha : R).

Definition gradient_step (w : 'cV[R]_d.+1) : 'cV[R]_d.+1 := w - alpha *: (S *m w - b).

Theorem gradient_descent k : iter k gradient_step 0 = inverse S alpha%:M k *m b.
Proof.
elim: k => [|k IH]; first by rewrite /inverse big_ord0 mulr0 mul0mx.
rewrite iterS IH /gradient_step; set M := inverse _ _ _.
have -> : inverse S alpha%:M k.+1 = M + alpha *: residual S M.
  by rewrite residual_inverse /M /inverse big_ord_recr /= mulrDr -mul_scalar_mx mulmxE.
rewrite mulmxDl -scalemxAl /residual -mulmxE -idmxE mulmxBl mul1mx -mulmxA.
by rewrite -scalerN opprB.
Qed.

End GradientDescent.

(* With p^k - 1 in place of p^k the theorem fails: over the integers, S = M0 = 2, one step of
   order 2. *)
Lemma hyperpower_not_less :
  iter 1 (step (2 : int) 2) 2 != inverse (2 : int) 2 (2 ^ 1 - 1).
Proof. by rewrite hyperpower inverse1 /inverse !big_ord_recl big_ord0. Qed.

Print Assumptions hyperpower.
Print Assumptions hyperpower_residual.
Print Assumptions newton.
Print Assumptions gradient_descent.
