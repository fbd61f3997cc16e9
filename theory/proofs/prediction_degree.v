(* The degree of the prediction x_q G_N X^T y in the prompt, along a line of prompts.

   G_N is the matrix with S G_N = I - (I - S M0)^N.  It belongs to k Newton-Schulz steps (N = 2^k),
   k hyperpower steps of order p (N = p^k) and k steps of gradient descent (N = k): hyperpower.v.
   The degree is 2N + 1 if M0 = alpha I and 4N + 1 if M0 = alpha S: the docstrings of
   theory/regression/depth.py and constructions/regression/ladder.py. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import hyperpower degrees.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Inductive start := Identity | Gram.

Section Prediction.
Variables (R : comRingType) (d n : nat) (from : start) (alpha : R) (N : nat).

(* M0 = alpha I or alpha S. *)
Definition first_inverse (S : 'M[R]_d.+1) : 'M[R]_d.+1 :=
  if from is Gram then alpha *: S else alpha%:M.

(* Rows of X are the examples, tokens are rows. *)
Definition prediction (X : 'M[R]_(n.+1, d.+1)) (y : 'cV[R]_n.+1) (xq : 'rV[R]_d.+1) : R :=
  let S := X^T *m X in (xq *m inverse S (first_inverse S) N *m X^T *m y) 0 0.

End Prediction.

(* A morphism of rings, such as the evaluation of polynomials, maps predictions to predictions. *)
Section Morphism.
Variables (R R' : comRingType) (f : {rmorphism R -> R'}) (d n : nat).

Lemma map_inverse (S M0 : 'M[R]_d.+1) N :
  map_mx f (inverse S M0 N) = inverse (map_mx f S) (map_mx f M0) N.
Proof.
rewrite /inverse rmorphM rmorph_sum; congr (_ * _); apply: eq_bigr => i _.
by rewrite rmorphX rmorphB rmorph1 rmorphM.
Qed.

Lemma map_first_inverse from alpha (S : 'M_d.+1) :
  map_mx f (first_inverse from alpha S) = first_inverse from (f alpha) (map_mx f S).
Proof. by case: from; rewrite /= ?map_scalar_mx ?map_mxZ. Qed.

Lemma map_prediction from alpha N (X : 'M_(n.+1, d.+1)) y xq :
  f (prediction from alpha N X y xq) =
  prediction from (f alpha) N (map_mx f X) (map_mx f y) (map_mx f xq).
Proof.
rewrite /prediction map_trmx -map_mxM -map_first_inverse -map_inverse.
by rewrite -!map_mxM [RHS]mxE.
Qed.

End Morphism.

Section Degree.
Variables (R : comRingType) (d n : nat) (from : start) (alpha : R).
Variables (X V : 'M[R]_(n.+1, d.+1)) (y w : 'cV[R]_n.+1) (xq v : 'rV[R]_d.+1).

(* The prediction for the prompt (X + tV, y + tw, x_q + tv), a polynomial in t. *)
Definition prediction_on_line (N : nat) : {poly R} :=
  prediction from alpha%:P N (line X V) (line y w) (line xq v).

(* The degree of M0, and the degree of S M0. *)
Definition start_degree : nat := if from is Gram then 2 else 0.
Definition step_degree : nat := if from is Gram then 4 else 2.

Let S := (line X V)^T *m line X V.
Let M0 := first_inverse from alpha%:P S.
Let E := residual S M0.
Let M0_top : 'M[R]_d.+1 := first_inverse from alpha (V^T *m V).

Let degree_S : degree_le 2 S.
Proof. by apply: (degree_mul (m := 1)); [apply/degree_tr/degree_line | apply: degree_line]. Qed.

Let top_S : top 2 S = V^T *m V.
Proof.
rewrite /S (@top_mul _ 1 1) ?top_tr ?top_line //; last exact: degree_line.
exact/degree_tr/degree_line.
Qed.

Let degree_M0 : degree_le start_degree M0.
Proof.
rewrite /M0 /start_degree /first_inverse; case: from => i j.
  by rewrite mxE; case: (i == j); rewrite ?mulr1n ?size_polyC_leq1 // mulr0n size_poly0.
by rewrite mxE (size_mul_le (m := 0)) ?size_polyC_leq1.
Qed.

Let top_M0 : top start_degree M0 = M0_top.
Proof.
rewrite /M0 /M0_top /start_degree /first_inverse -top_S; case: from; apply/matrixP => i j.
  by rewrite !mxE; case: (i == j); rewrite ?mulr1n ?coefC ?mulr0n ?coef0.
by rewrite !mxE coefCM.
Qed.

Let degree_SM0 : degree_le step_degree (S *m M0).
Proof.
rewrite (_ : step_degree = 2 + start_degree)%N; first exact: degree_mul.
by rewrite /step_degree /start_degree; case: from.
Qed.

Let one_is_const : (1 : 'M[{poly R}]_d.+1) = map_mx polyC 1.
Proof. by rewrite rmorph1. Qed.

Let degree_E : degree_le step_degree E.
Proof.
by rewrite /E /residual one_is_const; apply/degree_add/degree_opp => //; apply: degree_const.
Qed.

(* Only - S M0 reaches the degree of E = 1 - S M0. *)
Let top_E : top step_degree E = - (V^T *m V *m M0_top).
Proof.
rewrite /E /residual top_add top_opp one_is_const (top_small (degree_const 0 1)); last first.
  by rewrite /step_degree; case: from.
rewrite add0r -top_M0 -top_S -(top_mul degree_S degree_M0); congr (- top _ _).
by rewrite /step_degree /start_degree; case: from.
Qed.

Let power N :
  degree_le (N * step_degree) (E ^+ N) /\
  top (N * step_degree) (E ^+ N) = top step_degree E ^+ N.
Proof.
elim: N => [|N [IHd IHt]].
  by rewrite !expr0 mul0n one_is_const; split; [apply: degree_const | apply/matrixP => i j];
     rewrite !mxE coefC.
rewrite !exprS mulSn; split; first exact: degree_mul.
by rewrite -IHt; apply: top_mul.
Qed.

(* In a sum of powers the last one alone reaches its degree. *)
Let sum_of_powers N :
  degree_le (N * step_degree) (\sum_(i < N.+1) E ^+ i) /\
  top (N * step_degree) (\sum_(i < N.+1) E ^+ i) = top step_degree E ^+ N.
Proof.
elim: N => [|N [IHd _]]; first by rewrite big_ord1; apply: power.
have [powd powt] := power N.+1; rewrite big_ord_recr /= top_add -powt.
have less : (N * step_degree < N.+1 * step_degree)%N.
  by rewrite ltn_pmul2r // /step_degree; case: from.
split; first by apply: degree_add => //; apply: degree_leW IHd; apply: ltnW.
by rewrite (top_small IHd less) add0r.
Qed.

(* The coefficient of t^D, D = 2(N+1) + 1 or 4(N+1) + 1, for N + 1 factors of the residual. *)
Theorem leading_coefficient N :
  (size (prediction_on_line N.+1) <= (step_degree * N.+1 + 1).+1)%N /\
  (prediction_on_line N.+1)`_(step_degree * N.+1 + 1) =
  (v *m (M0_top *m (- (V^T *m V *m M0_top)) ^+ N) *m V^T *m w) 0 0.
Proof.
have [sumd sumt] := sum_of_powers N.
have -> : (step_degree * N.+1 + 1 = 1 + (start_degree + N * step_degree) + 1 + 1)%N.
  rewrite mulnS mulnC /step_degree /start_degree.
  by case: from; rewrite !addnA !addn1 !add1n // -addnA addnC.
have dG := degree_mul degree_M0 sumd; have dq := degree_line xq v.
have dX := degree_tr (degree_line X V); have dy := degree_line y w.
split; first exact: (degree_mul (degree_mul (degree_mul dq dG) dX) dy).
rewrite -top_E -sumt -top_M0 -(top_mul degree_M0 sumd) -{1}(top_line xq v) -(top_line X V) -top_tr.
rewrite -(top_mul dq dG) -(top_mul (degree_mul dq dG) dX) -{1}(top_line y w).
by rewrite -(top_mul (degree_mul (degree_mul dq dG) dX) dy) mxE.
Qed.

End Degree.

(* The direction in which only the first coordinates of the first example, of its label and of the
   query move: the leading coefficient is +-alpha^(N+1). *)
Section Witness.
Variables (R : comRingType) (d n : nat) (from : start) (alpha : R).

Definition along_X : 'M[R]_(n.+1, d.+1) := delta_mx 0 0.
Definition along_y : 'cV[R]_n.+1 := delta_mx 0 0.
Definition along_query : 'rV[R]_d.+1 := delta_mx 0 0.

Lemma along_gram : along_X^T *m along_X = delta_mx 0 0.
Proof. by rewrite trmx_delta mul_delta_mx. Qed.

(* The query is an eigenvector of M0's leading coefficient, and of that of E. *)
Lemma along_first : along_query *m first_inverse from alpha (delta_mx 0 0) = alpha *: along_query.
Proof.
by case: from; rewrite /= ?mul_mx_scalar // -scalemxAr mul_delta_mx.
Qed.

Lemma along_power N :
  along_query *m (- (delta_mx 0 0 *m first_inverse from alpha (delta_mx 0 0))) ^+ N =
  (- alpha) ^+ N *: along_query.
Proof.
elim: N => [|N IH]; first by rewrite !expr0 -idmxE mulmx1 scale1r.
rewrite exprSr mulmxA IH mulmxN -scalemxAl mulmxA mul_delta_mx along_first.
by rewrite scalerA -scaleNr exprSr mulrN.
Qed.

Theorem witness_coefficient N X y xq :
  (prediction_on_line from alpha X along_X y along_y xq along_query N.+1)
    `_(step_degree from * N.+1 + 1) = alpha * (- alpha) ^+ N.
Proof.
have [_ ->] := leading_coefficient from alpha X along_X y along_y xq along_query N.
rewrite along_gram mulmxA along_first -scalemxAl along_power scalerA.
by rewrite -!scalemxAl trmx_delta !mul_delta_mx !mxE !eqxx mulr1.
Qed.

End Witness.

(* Over an integral domain: the degree is exactly 2N + 1, or 4N + 1, wherever the line starts. *)
Theorem prediction_degree (R : idomainType) d n from (alpha : R) N
    (X : 'M[R]_(n.+1, d.+1)) y xq : alpha != 0 -> (0 < N)%N ->
  size (prediction_on_line from alpha X (along_X R d n) y (along_y R n) xq (along_query R d) N)
  = (step_degree from * N + 1).+1.
Proof.
case: N => // N alpha0 _.
have [le_D _] := leading_coefficient from alpha X (along_X R d n) y (along_y R n) xq
  (along_query R d) N.
apply/eqP; rewrite eqn_leq le_D ltnNge; apply/negP => /leq_sizeP /(_ _ (leqnn _)).
rewrite witness_coefficient => /eqP; rewrite mulf_eq0 expf_eq0 oppr_eq0.
by rewrite (negPf alpha0) andbF.
Qed.

Print Assumptions leading_coefficient.
Print Assumptions witness_coefficient.
Print Assumptions prediction_degree.
