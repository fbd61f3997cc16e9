(* The lower bound on layers for every method whose prediction is x_q^T g(S) X^T y with a polynomial
   g that does not depend on the prompt: the prediction has degree 2 deg(g) + 3, so L layers of
   linear or ReLU attention reach at most deg(g) + 1 = (3^L - 1)/2.  The residual 1 - t g(t) has
   degree deg(g) + 1: this is the claim of optimality in constructions/regression/chebyshev.py. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import hyperpower degrees prediction_degree lower_bound chebyshev.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* g(S) as a sum of powers. *)
Lemma horner_mx_sum (R : comRingType) d (S : 'M[R]_d.+1) (g : {poly R}) :
  horner_mx S g = \sum_(i < size g) g`_i *: S ^+ i.
Proof.
rewrite -{1}[g]coefK poly_def rmorph_sum; apply: eq_bigr => i _.
by rewrite linearZ /= rmorphX /= horner_mx_X.
Qed.

Section Degree.
Variables (R : idomainType) (d n : nat) (g : {poly R}).
Hypothesis g_neq0 : g != 0.
Variables (X : 'M[R]_(n.+1, d.+1)) (y : 'cV[R]_n.+1) (xq : 'rV[R]_d.+1).

Let XL := line X (along_X R d n).
Let S := XL^T *m XL.
Let m := (size g).-1.

Let size_g : size g = m.+1. Proof. by rewrite /m prednK // size_poly_gt0. Qed.

(* The prediction for the prompt on the line, a polynomial in t. *)
Definition at_S_on_line : 'M[{poly R}]_d.+1 := \sum_(i < size g) (g`_i)%:P *: S ^+ i.
Definition polynomial_on_line : {poly R} :=
  (line xq (along_query R d) *m at_S_on_line *m XL^T *m line y (along_y R n)) 0 0.

Let degree_S : degree_le 2 S.
Proof. by apply: (degree_mul (m := 1)); [apply/degree_tr/degree_line | apply: degree_line]. Qed.

Let degree_power i : degree_le (i * 2) (S ^+ i) /\ top (i * 2) (S ^+ i) = delta_mx 0 0 ^+ i.
Proof.
elim: i => [|i [IHd IHt]].
  have -> : S ^+ 0 = map_mx polyC 1 by rewrite expr0 rmorph1.
  by split; [apply: degree_const | apply/matrixP => i j; rewrite !mxE coefC].
rewrite !exprS mulSn; split; first exact: degree_mul.
rewrite (top_mul degree_S IHd) IHt (@top_mul _ 1 1) ?top_tr ?top_line ?along_gram //.
  exact/degree_tr/degree_line.
exact: degree_line.
Qed.

Let degree_scaled c k (A : 'M[{poly R}]_d.+1) : degree_le k A -> degree_le k (c%:P *: A).
Proof.
by move=> HA i j; rewrite mxE (@size_mul_le _ _ _ 0) // ?size_polyC_leq1.
Qed.

(* The power m alone reaches t^(2m). *)
Let degree_at_S : degree_le (m * 2) at_S_on_line.
Proof.
move=> a b; rewrite summxE; apply: size_sum_le => i.
have le : (i * 2 <= m * 2)%N by rewrite leq_mul2r -ltnS -size_g ltn_ord.
exact: (degree_leW le (degree_scaled g`_i (degree_power i).1)).
Qed.

Let top_at_S : top (m * 2) at_S_on_line = lead_coef g *: delta_mx 0 0 ^+ m.
Proof.
apply/matrixP => a b; rewrite mxE /at_S_on_line size_g summxE coef_sum big_ord_recr /=.
rewrite big1 ?add0r => [|i _]; rewrite mxE coefCM.
  by rewrite [in RHS]mxE -(degree_power m).2 [in RHS]mxE lead_coefE.
have le : (i * 2 < m * 2)%N by rewrite ltn_pmul2r.
rewrite [X in _ * X]nth_default ?mulr0 //.
exact: leq_trans ((degree_power i).1 a b) le.
Qed.

Let along_power i : along_query R d *m delta_mx 0 0 ^+ i = along_query R d.
Proof.
elim: i => [|i IH]; first by rewrite expr0 -idmxE mulmx1.
by rewrite exprSr mulmxA IH mul_delta_mx.
Qed.

(* The degree of the prediction is 2 size g + 1 = 2 deg(g) + 3. *)
Theorem polynomial_degree : size polynomial_on_line = (2 * size g + 1).+1.
Proof.
have dq := degree_line xq (along_query R d); have dy := degree_line y (along_y R n).
have dX := degree_tr (degree_line X (along_X R d n)).
have -> : (2 * size g + 1 = 1 + m * 2 + 1 + 1)%N.
  by rewrite size_g mulnS mulnC !addn1 add1n add2n.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  exact: (degree_mul (degree_mul (degree_mul dq degree_at_S) dX) dy).
rewrite ltnNge; apply/negP => /leq_sizeP /(_ _ (leqnn _)).
have := top_mul (degree_mul (degree_mul dq degree_at_S) dX) dy.
rewrite (top_mul (degree_mul dq degree_at_S) dX) (top_mul dq degree_at_S) top_at_S.
rewrite top_tr !top_line -scalemxAr along_power -!scalemxAl trmx_delta !mul_delta_mx.
move/matrixP/(_ 0 0); rewrite [LHS]mxE => -> /eqP.
by rewrite !mxE !eqxx mulr1 lead_coef_eq0 (negPf g_neq0).
Qed.

End Degree.

(* So fewer layers than log_3(2 size g + 1) do not suffice. *)
Section LowerBound.
Variables (F : realFieldType) (d n T D : nat) (g : {poly F}).
Implicit Types P V : prompt F d n.

Definition polynomial_prediction P : F :=
  (P.2 *m horner_mx (P.1.1^T *m P.1.1) g *m P.1.1^T *m P.1.2) 0 0.

Lemma polynomial_on_line_at P t :
  let V : prompt F d n := (along_X F d n, along_y F n, along_query F d) in
  polynomial_prediction (P + t *: V) = (polynomial_on_line g P.1.1 P.1.2 P.2).[t].
Proof.
move=> V; rewrite /polynomial_on_line /at_S_on_line.
set S := (line P.1.1 _)^T *m _; set product := _ *m line _ _.
have at_t k l (A B : 'M[F]_(k, l)) : map_mx (horner_eval t) (line A B) = A + t *: B.
  by apply/matrixP => i j; rewrite !mxE /horner_eval !hornerE.
have S_t : map_mx (horner_eval t) S = (P.1.1 + t *: V.1.1)^T *m (P.1.1 + t *: V.1.1).
  by rewrite map_mxM -map_trmx at_t.
have g_t : map_mx (horner_eval t) (\sum_(i < size g) (g`_i)%:P *: S ^+ i) =
    horner_mx (map_mx (horner_eval t) S) g.
  rewrite horner_mx_sum rmorph_sum; apply: eq_bigr => i _.
  by rewrite /= map_mxZ rmorphX /= /horner_eval hornerC.
have <- : map_mx (horner_eval t) product 0 0 = (product 0 0).[t] by rewrite mxE.
by rewrite /product !map_mxM -map_trmx !at_t g_t S_t.
Qed.

Theorem polynomial_layers (M : transformer F d n T D) (U : prompt F d n -> Prop) P :
  open_around U P -> (forall Q, U Q -> answer M Q = polynomial_prediction Q) ->
  (2 * size g + 1 <= 3 ^ size (layers M))%N.
Proof.
move=> openU right; have [->|g0] := eqVneq g 0; first by rewrite size_poly0 muln0 expn_gt0.
pose V : prompt F d n := (along_X F d n, along_y F n, along_query F d).
rewrite -ltnS -(polynomial_degree g0 P.1.1 P.1.2 P.2).
apply: (degree_on_lines openU right (V := V)) => t.
exact: polynomial_on_line_at.
Qed.

End LowerBound.

(* k steps of Chebyshev's method: t Q = 1 - T_k(l)/tau_k with l = sigma (1 - alpha t), so Q has the
   degree k - 1, and ceil(log_3(2k + 1)) layers are needed, which chebyshev_ladder.v attains. *)
Section Chebyshev.
Variables (F : realFieldType) (d n L D : nat) (alpha sigma : F).
Hypotheses (alpha0 : alpha != 0) (sigma0 : sigma != 0).

Let l : {poly F} := sigma *: (1 - alpha *: 'X).

Lemma size_T k : size (T l k) = k.+1.
Proof.
have size_l : size (l + l) = 2%N.
  rewrite /l -scalerDl -mulr2n size_scale ?mulrn_eq0 // addrC.
  by rewrite size_addl ?size_opp ?size_scale ?size_polyX ?size_poly1.
have l_neq0 : l + l != 0 by rewrite -size_poly_gt0 size_l.
suff [] : size (T l k) = k.+1 /\ size (T l k.+1) = k.+2 by [].
elim: k => [|k [IH0 IH1]].
  rewrite T0 T1 size_poly1 size_scale // addrC.
  by rewrite size_addl ?size_opp ?size_scale ?size_polyX ?size_poly1.
have T_neq0 : T l k.+1 != 0 by rewrite -size_poly_gt0 IH1.
have product : size ((l + l) * T l k.+1) = k.+3 by rewrite size_mul // size_l IH1.
by split; rewrite // T_step size_addl product // size_opp IH0.
Qed.

Theorem chebyshev_needs_layers k (Q : {poly F}) (M : transformer F d n L D) U P :
  T sigma k != 0 -> 'X * Q = 1 - (T sigma k)^-1 *: T l k ->
  open_around U P -> (forall R, U R -> answer M R = polynomial_prediction Q R) ->
  (2 * k + 1 <= 3 ^ size (layers M))%N.
Proof.
move=> tau0 Q_is openU right; have [->|k0] := posnP k; first by rewrite expn_gt0.
suff <- : size Q = k by apply: polynomial_layers openU right.
have size_XQ : size ('X * Q) = k.+1.
  rewrite Q_is addrC size_addl size_opp size_scale ?invr_eq0 // size_T //.
  by rewrite size_poly1.
have Q0 : Q != 0 by apply: contraTneq k0 => Q0; move: size_XQ; rewrite Q0 mulr0 size_poly0.
by move: size_XQ; rewrite mulrC size_mulX // => -[].
Qed.

End Chebyshev.

Print Assumptions polynomial_degree.
Print Assumptions polynomial_layers.
Print Assumptions chebyshev_needs_layers.
