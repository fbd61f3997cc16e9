(* The lower bound on layers: L layers of linear or ReLU attention with ReLU MLPs compute piecewise
   polynomials of degree at most 3^L, and a prediction of least squares has degree 2N + 1 (from
   M0 = alpha I) or 4N + 1 (from M0 = alpha S).  So 3^L is at least that degree, even if the model
   outputs the prediction on some open set of prompts only.  The statement and its proof are those
   of theory/regression/depth.py and constructions/regression/ladder.py. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import hyperpower degrees prediction_degree attention_layers.
From weightwright Require Import piecewise piecewise_layers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section LowerBound.
Variables (F : realFieldType) (d n T D : nat).

(* A prompt: the examples X, their labels y, and the query. *)
Definition prompt := ('M[F]_(n.+1, d.+1) * 'cV[F]_n.+1 * 'rV[F]_d.+1)%type.

(* A transformer: tokens that are affine in the prompt, layers, and the number that it outputs. *)
Record transformer := Transformer {
  embed : {linear prompt -> 'M[F]_(T, D)};
  embed_bias : 'M[F]_(T, D);
  layers : seq (layer F T D);
  answer_token : 'I_T;
  unembed : 'cV[F]_(D + 1)
}.

Definition answer (M : transformer) (P : prompt) : F :=
  output [rmorphism of idfun] (answer_token M) (unembed M)
    (run (@relu F) [rmorphism of idfun] (layers M) (embed_bias M + embed M P)).

(* A set of prompts that contains a segment in every direction around the prompt P: an open set,
   for any of the usual topologies. *)
Definition open_around (U : prompt -> Prop) (P : prompt) : Prop :=
  forall V : prompt, exists2 e : F, 0 < e & forall t, `|t| < e -> U (P + t *: V).

(* On a line of prompts the output is piecewise a polynomial of degree at most 3^L. *)
Lemma answer_on_line (M : transformer) (P V : prompt) :
  piecewise (3 ^ size (layers M)) (fun t => answer M (P + t *: V)).
Proof.
rewrite -[X in piecewise X]addn0 /answer /output; apply: pieces_mul; last exact: pieces_const.
apply: pieces_with_one; rewrite -[X in pieces X]muln1; apply: pieces_run => i j.
pose a := (embed_bias M + embed M P) i j; pose b := embed M V i j.
apply: (@piecewise_ext _ _ (horner (a%:P + b%:P * 'X))) => [t|].
  by rewrite !hornerE /a /b linearD linearZ !mxE addrA [b * t]mulrC.
apply: piecewise_poly; rewrite size_add_le //; first exact: leq_trans (size_polyC_leq1 _) _.
by rewrite (@size_mul_le _ _ _ 0 1) ?size_polyX ?size_polyC_leq1.
Qed.

(* Hence what the model outputs on an open set, if it is a polynomial on lines, has at most this
   degree on each line. *)
Lemma degree_on_lines (M : transformer) (U : prompt -> Prop) (f : prompt -> F) (P V : prompt) q :
  open_around U P -> (forall Q, U Q -> answer M Q = f Q) -> (forall t, f (P + t *: V) = q.[t]) ->
  (size q <= (3 ^ size (layers M)).+1)%N.
Proof.
move=> openU right f_q; have [e e0 in_U] := openU V.
have e_e : - e < e by rewrite gtr_opp.
have [a [b [p [ea ab be size_p answer_p]]]] := answer_on_line M P V e_e.
suff -> : q = p by [].
apply: (@equal_on_interval _ _ _ a b) => // t t_in.
rewrite -f_q -right ?answer_p //; apply: in_U.
by case/andP: t_in => at_ tb; rewrite ltr_norml (le_lt_trans ea at_) (lt_le_trans tb be).
Qed.

Variables (from : start) (alpha : F) (N : nat).

(* The prediction for the query of a prompt; N factors of the residual, from M0 = alpha I
   (Identity) or alpha S (Gram). *)
Definition predicted (P : prompt) : F := prediction from alpha N P.1.1 P.1.2 P.2.

(* On a line of prompts it is the polynomial of prediction_degree.v. *)
Lemma predicted_on_line (P V : prompt) t :
  predicted (P + t *: V) =
  (prediction_on_line from alpha P.1.1 V.1.1 P.1.2 V.1.2 P.2 V.2 N).[t].
Proof.
have at_t k l (A B : 'M[F]_(k, l)) : A + t *: B = map_mx (horner_eval t) (line A B).
  by apply/matrixP => i j; rewrite !mxE /horner_eval !hornerE.
rewrite -[RHS]/(horner_eval t _) map_prediction -!at_t.
by rewrite /= /horner_eval hornerC.
Qed.

Theorem layers_lower_bound (M : transformer) (U : prompt -> Prop) (P : prompt) :
  alpha != 0 -> open_around U P -> (forall Q, U Q -> answer M Q = predicted Q) ->
  (step_degree from * N + 1 <= 3 ^ size (layers M))%N.
Proof.
move=> alpha0 openU right; have [->|N0] := posnP N; first by rewrite muln0 expn_gt0.
pose V : prompt := (along_X F d n, along_y F n, along_query F d).
have := degree_on_lines openU right (predicted_on_line P V).
by rewrite prediction_degree.
Qed.

(* In layers: those of the ladders (ladder.v and ladder_gram.v) are the fewest. *)
Corollary least_layers (M : transformer) (U : prompt -> Prop) (P : prompt) :
  alpha != 0 -> open_around U P -> (forall Q, U Q -> answer M Q = predicted Q) ->
  (up_log 3 (step_degree from * N).+1 <= size (layers M))%N.
Proof.
move=> alpha0 openU right; apply: up_log_min => //.
by rewrite -addn1; apply: layers_lower_bound openU right.
Qed.

End LowerBound.

(* k steps of order p (p = 2: Newton-Schulz), and k steps of gradient descent. *)
Section Algorithms.
Variables (F : realFieldType) (d n T D : nat) (from : start) (alpha : F).
Variables (M : transformer F d n T D) (U : prompt F d n -> Prop) (P : prompt F d n).
Hypotheses (alpha0 : alpha != 0) (openU : open_around U P).
Let L := size (layers M).
Let gram (Q : prompt F d n) : 'M[F]_d.+1 := Q.1.1^T *m Q.1.1.
Let M0 Q := first_inverse from alpha (gram Q).

Theorem hyperpower_layers p k :
  (forall Q, U Q ->
     answer M Q = (Q.2 *m iter k (step (gram Q) p) (M0 Q) *m Q.1.1^T *m Q.1.2) 0 0) ->
  (step_degree from * p ^ k + 1 <= 3 ^ L)%N.
Proof.
move=> right; apply: layers_lower_bound alpha0 openU _ => Q UQ.
by rewrite right // hyperpower.
Qed.

Theorem newton_layers k :
  (forall Q, U Q ->
     answer M Q = (Q.2 *m iter k (newton_step (gram Q)) (M0 Q) *m Q.1.1^T *m Q.1.2) 0 0) ->
  (2 ^ (k + if from is Gram then 2 else 1) + 1 <= 3 ^ L)%N.
Proof.
move=> right; have -> : (2 ^ (k + if from is Gram then 2 else 1) = step_degree from * 2 ^ k)%N.
  by rewrite expnD mulnC /step_degree; case: from.
by apply: layers_lower_bound alpha0 openU _ => Q UQ; rewrite right // newton.
Qed.

Theorem gradient_descent_layers k : from = Identity ->
  (forall Q, U Q ->
     answer M Q = (Q.2 *m iter k (gradient_step (gram Q) (Q.1.1^T *m Q.1.2) alpha) 0) 0 0) ->
  (2 * k + 1 <= 3 ^ L)%N.
Proof.
move=> identity right; have -> : (2 * k = step_degree from * k)%N by rewrite identity.
apply: layers_lower_bound alpha0 openU _ => Q UQ.
by rewrite right // gradient_descent /predicted /prediction identity !mulmxA.
Qed.

End Algorithms.

(* Linear attention alone, over any integral domain: the same bound for an identity of polynomials
   in t, for tokens A + tB on the line of prompts. *)
Section LinearAttention.
Variables (R : idomainType) (d n T D : nat) (from : start) (alpha : R).

Theorem linear_layers_lower_bound N (ls : seq (layer R T D)) (A B : 'M[R]_(T, D)) i out
    (X : 'M[R]_(n.+1, d.+1)) y xq : alpha != 0 -> all (@linear_layer R T D) ls ->
  output [rmorphism of (@polyC R)] i out (run id [rmorphism of (@polyC R)] ls (line A B)) =
    prediction_on_line from alpha X (along_X R d n) y (along_y R n) xq (along_query R d) N ->
  (step_degree from * N + 1 <= 3 ^ size ls)%N.
Proof.
move=> alpha0 linear right; have [->|N0] := posnP N; first by rewrite muln0 expn_gt0.
have := degree_output i out linear (degree_line A B).
by rewrite right prediction_degree.
Qed.

End LinearAttention.

(* One layer reaches degree 3 = 3^1: x_q X^T y, for all d and n.  So no bound 3^L - 1 holds.  (That
   every L reaches 3^L is the ladder's theorem.)  The tokens are (x_i, y_i) and (x_q, 0), and a head
   attends to the examples with the scores <x, x_i> and the values alpha y_i. *)
Section OneLayer.
Variables (F : realFieldType) (d n : nat) (alpha : F).

Definition tokens (P : prompt F d n) : 'M[F]_(n.+1 + 1, d.+1 + 1) := block_mx P.1.1 P.1.2 P.2 0.

Lemma tokens_linear : linear tokens.
Proof.
by move=> c P Q; rewrite /tokens scale_block_mx add_block_mx scaler0 addr0.
Qed.

Definition regression_head : head F (n.+1 + 1) (d.+1 + 1) :=
  Head false (block_mx (block_mx 1%:M 0 0 0) 0 0 0) (row_mx (const_mx 1) 0)
    (col_mx (block_mx 0 0 0 alpha%:M) 0).

Definition one_layer : transformer F d n (n.+1 + 1) (d.+1 + 1) :=
  Transformer (Linear tokens_linear) 0 [:: Layer [:: regression_head] [::]]
    (rshift n.+1 0) (col_mx (col_mx 0 1%:M) 0).

(* Reads without a bias. *)
Lemma unbiased k (h : 'M[F]_(n.+1 + 1, d.+1 + 1)) (W : 'M[F]_(d.+1 + 1, k)) :
  with_one h *m col_mx W 0 = h *m W.
Proof. by rewrite mul_row_col mulmx0 addr0. Qed.

Lemma head_values P : with_one (tokens P) *m value_output regression_head =
  block_mx 0 (alpha *: P.1.2) 0 0.
Proof.
by rewrite unbiased mulmx_block !mulmx0 !mul0mx !addr0 !add0r mul_mx_scalar.
Qed.

(* The score of the query for example i is <x_q, x_i>. *)
Lemma head_scores P i :
  score [rmorphism of idfun] regression_head (tokens P) (rshift n.+1 0) (lshift 1 i) =
  (P.2 *m P.1.1^T) 0 i.
Proof.
rewrite /score /with_one /= map_mx_id // mul_row_block !mulmx0 !addr0.
rewrite tr_row_mx mul_row_col mul0mx addr0.
rewrite mulmx_block !mulmx0 !addr0 !mulmx1 tr_block_mx mulmx_block !mul0mx !addr0.
by rewrite block_mxEdl.
Qed.

Theorem one_layer_is_right P : answer one_layer P = predicted Identity alpha 1 P.
Proof.
rewrite /answer /output /= /add_layer /add_heads big_seq1 add0r /= map_mx_id // unbiased.
rewrite -[_ + attend _ _ _ _]hsubmxK mul_row_col mulmx0 add0r mulmx1 mxE mxE block_mxEdr mxE add0r.
rewrite mxE big_split_ord big_ord1 /= map_mx_id // head_values.
rewrite block_mxEdr [X in _ + _ * X]mxE mulr0 addr0.
rewrite /predicted /prediction inverse1 mul_mx_scalar -!scalemxAl scalemxAr mxE.
apply: eq_bigr => i _; rewrite block_mxEur; congr (_ * _).
by rewrite mxE row_mxEl mxE mul1r head_scores.
Qed.

Corollary one_layer_is_sharp :
  (step_degree Identity * 1 + 1 = 3 ^ size (layers one_layer))%N.
Proof. by []. Qed.

End OneLayer.

Print Assumptions layers_lower_bound.
Print Assumptions least_layers.
Print Assumptions linear_layers_lower_bound.
Print Assumptions newton_layers.
Print Assumptions hyperpower_layers.
Print Assumptions gradient_descent_layers.
Print Assumptions one_layer_is_right.
Print Assumptions one_layer_is_sharp.
