(* Theorems of theory/proofs, stated once more: one whose hypotheses or numbers change there no
   longer proves what stands here.  tests/ledger/test_changed_statements.py compiles this file. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require linear_heads newton_direct gradient_descent hyperpower ladder ladder_gram.
From weightwright Require prediction_degree lower_bound polynomial_degree.
From weightwright Require hard_attention induction_heads pointer_doubling semiautomata.
From weightwright Require two_cliques.
Set Implicit Arguments.
Unset Strict Implicit.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Upper bounds: for all d, n, k, X, y and x_q, over any commutative ring (for Newton with 1/2). *)
Section Constructions.
Variables (R : comRingType) (alpha : R) (k d n : nat).
Variables (X : 'M[R]_(n, d.+1)) (y : 'cV[R]_n) (xq : 'rV[R]_d.+1).
Let S := X^T *m X.
Let newton (M0 : 'M[R]_d.+1) := iter k (fun M => 2%:R *: M - M *m S *m M) M0.

Let newton_is M0 : iter k (hyperpower.newton_step S) M0 = newton M0.
Proof. by apply: eq_iter => M; rewrite /hyperpower.newton_step scaler_nat !mulmxE. Qed.

Goal forall half : R, 2%:R * half = 1 ->
  linear_heads.prediction (newton_direct.newton_direct alpha half newton_direct.gram k) X y xq =
  (xq *m newton (alpha *: S) *m (X^T *m y)) 0 0 /\
  size (linear_heads.layers (newton_direct.newton_direct alpha half newton_direct.gram k))
    = (k + 2)%N.
Proof.
move=> half two; rewrite newton_direct.newton_direct_predicts // newton_direct.newton_direct_layers.
rewrite addn2; split=> //; congr ((_ *m _ *m _) 0 0).
by rewrite /newton; elim: k => //= j ->.
Qed.

Goal forall half : R, 2%:R * half = 1 ->
  linear_heads.prediction (newton_direct.newton_direct alpha half newton_direct.identity k) X y xq =
  (xq *m newton alpha%:M *m (X^T *m y)) 0 0 /\
  size (linear_heads.layers (newton_direct.newton_direct alpha half newton_direct.identity k))
    = (k + 1)%N.
Proof.
move=> half two; rewrite newton_direct.newton_direct_predicts // newton_direct.newton_direct_layers.
rewrite addn1; split=> //; congr ((_ *m _ *m _) 0 0).
by rewrite /newton; elim: k => //= j ->.
Qed.

Goal linear_heads.prediction (ladder.power_ladder alpha (2 ^ k)) X y xq =
  (xq *m newton alpha%:M *m (X^T *m y)) 0 0 /\
  size (linear_heads.layers (ladder.power_ladder alpha (2 ^ k))) = up_log 3 (2 ^ k.+1).+1.
Proof. by rewrite ladder.newton_ladder newton_is ladder.power_ladder_layers expnS. Qed.

Goal linear_heads.prediction (ladder_gram.gram_ladder alpha (2 ^ k)) X y xq =
  (xq *m newton (alpha *: S) *m (X^T *m y)) 0 0 /\
  size (linear_heads.layers (ladder_gram.gram_ladder alpha (2 ^ k))) = up_log 3 (2 ^ k.+2).+1.
Proof.
by rewrite ladder_gram.newton_gram_ladder newton_is ladder_gram.gram_ladder_layers !expnS !mulnA.
Qed.

Goal linear_heads.prediction (gradient_descent.gradient_descent alpha k) X y xq =
  (xq *m iter k (fun w => w - alpha *: (S *m w - X^T *m y)) 0) 0 0 /\
  size (linear_heads.layers (gradient_descent.gradient_descent alpha k)) = k.
Proof.
rewrite gradient_descent.gradient_descent_predicts gradient_descent.descent_layers; split=> //.
by congr ((_ *m _) 0 0); elim: k => //= j ->.
Qed.

Goal linear_heads.prediction (ladder.power_ladder alpha k) X y xq =
  (xq *m iter k (fun w => w - alpha *: (S *m w - X^T *m y)) 0) 0 0 /\
  size (linear_heads.layers (ladder.power_ladder alpha k)) = up_log 3 (2 * k).+1.
Proof. by rewrite ladder.gradient_descent_ladder ladder.power_ladder_layers. Qed.

End Constructions.

(* Lower bounds: for all models, prompts P and sets U that contain a segment in each direction. *)
Section LowerBounds.
Variables (F : realFieldType) (d n T D k : nat) (alpha : F).
Variables (M : lower_bound.transformer F d n T D) (U : lower_bound.prompt F d n -> Prop).
Variable P : lower_bound.prompt F d n.
Hypotheses (alpha_neq0 : alpha != 0) (openU : forall V, exists2 e : F, 0 < e &
  forall t, `|t| < e -> U (P + t *: V)).
Let S (Q : lower_bound.prompt F d n) := Q.1.1^T *m Q.1.1.
Let L := size (lower_bound.layers M).

Goal (forall Q, U Q -> lower_bound.answer M Q =
    (Q.2 *m iter k (hyperpower.newton_step (S Q)) (alpha *: S Q) *m Q.1.1^T *m Q.1.2) 0 0) ->
  (2 ^ (k + 2) + 1 <= 3 ^ L)%N.
Proof. exact: (@lower_bound.newton_layers F d n T D prediction_degree.Gram). Qed.

Goal (forall Q, U Q -> lower_bound.answer M Q =
    (Q.2 *m iter k (hyperpower.newton_step (S Q)) alpha%:M *m Q.1.1^T *m Q.1.2) 0 0) ->
  (2 ^ (k + 1) + 1 <= 3 ^ L)%N.
Proof. exact: (@lower_bound.newton_layers F d n T D prediction_degree.Identity). Qed.

Goal forall p, (forall Q, U Q -> lower_bound.answer M Q =
    (Q.2 *m iter k (hyperpower.step (S Q) p) (alpha *: S Q) *m Q.1.1^T *m Q.1.2) 0 0) ->
  (4 * p ^ k + 1 <= 3 ^ L)%N.
Proof. by move=> p; apply: (@lower_bound.hyperpower_layers F d n T D prediction_degree.Gram). Qed.

Goal (forall Q, U Q -> lower_bound.answer M Q =
    (Q.2 *m iter k (fun w => w - alpha *: (S Q *m w - Q.1.1^T *m Q.1.2)) 0) 0 0) ->
  (2 * k + 1 <= 3 ^ L)%N.
Proof. exact: (@lower_bound.gradient_descent_layers F d n T D prediction_degree.Identity). Qed.

Goal forall g : {poly F}, (forall Q, U Q -> lower_bound.answer M Q =
    (Q.2 *m horner_mx (S Q) g *m Q.1.1^T *m Q.1.2) 0 0) -> (2 * size g + 1 <= 3 ^ L)%N.
Proof. by move=> g; apply: polynomial_degree.polynomial_layers openU. Qed.

End LowerBounds.

(* Two cliques, for weights whose matrices have no negative entries. *)
Goal forall (F : realFieldType) m (A : 'M[F]_m.+1) Ws (o_I o_J : nat -> F) theta
    (i j i' j' : 'I_m.+1),
  (forall k l, 0 <= A k l) -> (forall k, A k k = 1) -> A^T = A ->
  (forall k, \sum_l A k l <= (m.+1)./2%:R) ->
  (forall W, List.In W Ws -> forall u v,
    0 <= two_cliques.on_I W u v + two_cliques.on_J W u v /\ 0 <= two_cliques.on_J W u v) ->
  (forall u, 0 <= o_I u + o_J u /\ 0 <= o_J u) ->
  (forall k, (k <= 3 ^ size Ws)%N -> (A ^+ k) i j = 0) ->
  (i' < (m.+1)./2)%N != (j' < (m.+1)./2)%N ->
  two_cliques.output A Ws o_I o_J theta i j <=
  two_cliques.output (\matrix_(k, l) ((k < (m.+1)./2) == (l < (m.+1)./2))%N%:R)
    Ws o_I o_J theta i' j'.
Proof. by move=> *; apply: two_cliques.halves_witness. Qed.

(* Retrieval and semiautomata. *)
Goal forall (F : realFieldType) (V n r : nat), (0 < r)%N -> (V <= 2 ^ r)%N ->
  forall (k : nat) (point : 'I_n.+1 -> 'rV[int]_k), injective point ->
  forall tok, (forall i, tok i < V)%N -> forall (first : bool) (c : F), 0 < c ->
  forall i : 'I_n.+1, (0 < i)%N ->
  hard_attention.found (@hard_attention.causal n)
    (induction_heads.match_score r point tok first c) 1 i (induction_heads.find tok first i).
Proof. exact: induction_heads.match_found. Qed.

Goal forall (F : realFieldType) (V n r : nat), (V <= 2 ^ r)%N ->
  forall (d : nat) (point : 'I_n.+1 -> 'rV[int]_d), injective point -> point ord0 = 0 ->
  forall tok, (forall i, tok i < V)%N -> forall (k : nat) (c : F), (0 < k)%N -> 0 < c ->
  let layers := pointer_doubling.layers r point tok k c in
  size layers = (trunc_log 2 k + 2)%N /\
  forall i, pointer_doubling.answer (pointer_doubling.run layers) i =
    induction_heads.token_code F r tok (iter k (induction_heads.find tok false) i).
Proof.
move=> F V n r V_codes d point inj BOS tok tok_lt k c k_gt0 c_gt0 layers.
split=> [|i]; first exact: pointer_doubling.number_of_layers.
exact: (pointer_doubling.hops_are_found V_codes).
Qed.

Goal forall (F : realFieldType) H (delta : nat -> 'I_H.+1 -> 'I_H.+1) word T,
  let layers := semiautomata.layers F H T in
  size layers = up_log 2 T /\
  forall (i : 'I_T.+1) q, semiautomata.map_ (semiautomata.run delta word layers) i 0 q =
    (semiautomata.state delta word q i : nat)%:R.
Proof.
move=> F H delta word T layers.
by split=> [|i q]; [exact: semiautomata.number_of_layers | exact: semiautomata.states_are_computed].
Qed.
