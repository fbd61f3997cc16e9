(* Degrees of matrices of polynomials, and their leading coefficients.

   The inputs of a model are moved along a line, P + tV, so every number that the model computes
   is a polynomial in t.  `degree_le m A` bounds the degrees of all entries of A by m, and
   `top m A` consists of their coefficients of t^m.  Both follow sums and products. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Polynomials.
Variable R : ringType.
Implicit Types (p q : {poly R}) (m : nat).

Lemma size_add_le p q m : (size p <= m)%N -> (size q <= m)%N -> (size (p + q)%R <= m)%N.
Proof. by move=> Hp Hq; rewrite (leq_trans (size_add p q)) // geq_max Hp. Qed.

Lemma size_sum_le (I : finType) (F : I -> {poly R}) m :
  (forall i, size (F i) <= m)%N -> (size (\sum_i F i)%R <= m)%N.
Proof.
move=> HF; apply: (big_ind (fun p : {poly R} => size p <= m)%N) => [|p q|i _] //.
  by rewrite size_poly0.
exact: size_add_le.
Qed.

Lemma size_mul_le p q m m' :
  (size p <= m.+1)%N -> (size q <= m'.+1)%N -> (size (p * q)%R <= (m + m').+1)%N.
Proof.
move=> Hp Hq; apply: leq_trans (size_mul_leq p q) _.
by have := leq_add Hp Hq; rewrite addSn addnS -ltnS => H; case: (size p + size q)%N H.
Qed.

(* The coefficient of t^(m+m') of a product comes from the coefficients of t^m and t^m'. *)
Lemma coef_mul_top p q m m' :
  (size p <= m.+1)%N -> (size q <= m'.+1)%N -> (p * q)`_(m + m') = p`_m * q`_m'.
Proof.
move=> Hp Hq; rewrite coefM.
have Hm : (m < (m + m').+1)%N by rewrite ltnS leq_addr.
rewrite (bigD1 (Ordinal Hm)) //= addKn big1 ?addr0 // => i ne_m.
have [lt_m|gt_m|eq_m] := ltngtP i m.
- rewrite [q`__]nth_default ?mulr0 //; apply: leq_trans Hq _.
  by rewrite ltn_subRL ltn_add2r.
- by rewrite nth_default ?mul0r //; apply: leq_trans Hp _.
- by case/eqP: ne_m; apply: val_inj.
Qed.

End Polynomials.

Section Matrices.
Variable R : comRingType.

Definition degree_le (m : nat) k l (A : 'M[{poly R}]_(k, l)) : Prop :=
  forall i j, (size (A i j) <= m.+1)%N.

Definition top (m : nat) k l (A : 'M[{poly R}]_(k, l)) : 'M[R]_(k, l) :=
  \matrix_(i, j) (A i j)`_m.

Lemma degree_leW m m' k l (A : 'M_(k, l)) :
  (m <= m')%N -> degree_le m A -> degree_le m' A.
Proof. by move=> Hm HA i j; apply: leq_trans (HA i j) _. Qed.

Lemma degree_const m k l (A : 'M[R]_(k, l)) : degree_le m (map_mx polyC A).
Proof. by move=> i j; rewrite mxE (leq_trans (size_polyC_leq1 _)). Qed.

Lemma degree_add m k l (A B : 'M_(k, l)) :
  degree_le m A -> degree_le m B -> degree_le m (A + B).
Proof. by move=> HA HB i j; rewrite mxE size_add_le. Qed.

Lemma degree_opp m k l (A : 'M_(k, l)) : degree_le m A -> degree_le m (- A).
Proof. by move=> HA i j; rewrite mxE size_opp. Qed.

Lemma degree_tr m k l (A : 'M_(k, l)) : degree_le m A -> degree_le m A^T.
Proof. by move=> HA i j; rewrite mxE. Qed.

Lemma degree_mul m m' j k l (A : 'M_(j, k)) (B : 'M_(k, l)) :
  degree_le m A -> degree_le m' B -> degree_le (m + m') (A *m B).
Proof.
by move=> HA HB i i'; rewrite mxE; apply: size_sum_le => a; apply: size_mul_le.
Qed.

Lemma top_tr m k l (A : 'M_(k, l)) : top m A^T = (top m A)^T.
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma top_mul m m' j k l (A : 'M_(j, k)) (B : 'M_(k, l)) :
  degree_le m A -> degree_le m' B -> top (m + m') (A *m B) = top m A *m top m' B.
Proof.
move=> HA HB; apply/matrixP => i i'; rewrite !mxE coef_sum; apply: eq_bigr => a _.
by rewrite !mxE coef_mul_top.
Qed.

(* A matrix of smaller degree does not reach t^m. *)
Lemma top_small m m' k l (A : 'M_(k, l)) : degree_le m A -> (m < m')%N -> top m' A = 0.
Proof. by move=> HA Hm; apply/matrixP => i j; rewrite !mxE nth_default // (leq_trans (HA i j)). Qed.

Lemma top_add m k l (A B : 'M_(k, l)) : top m (A + B) = top m A + top m B.
Proof. by apply/matrixP => i j; rewrite !mxE coefD. Qed.

Lemma top_opp m k l (A : 'M_(k, l)) : top m (- A) = - top m A.
Proof. by apply/matrixP => i j; rewrite !mxE coefN. Qed.

(* The line P + tV. *)
Definition line k l (P V : 'M[R]_(k, l)) : 'M[{poly R}]_(k, l) :=
  map_mx polyC P + 'X *: map_mx polyC V.

Lemma degree_line k l (P V : 'M_(k, l)) : degree_le 1 (line P V).
Proof.
move=> i j; rewrite !mxE size_add_le //; first exact: leq_trans (size_polyC_leq1 _) _.
by rewrite mulrC (size_mul_le (m := 0)) ?size_polyX ?size_polyC_leq1.
Qed.

Lemma top_line k l (P V : 'M_(k, l)) : top 1 (line P V) = V.
Proof. by apply/matrixP => i j; rewrite !mxE coefD coefC coefXM coefC add0r. Qed.

End Matrices.
