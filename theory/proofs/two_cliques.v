(* The two-clique witness: a disentangled transformer with two channels whose weights are >= 0 and
   which predicts "connected" beyond distance 3^L predicts it for all pairs between two cliques.
   See theory/graphs/limits.py, theorem 2; the numbers of walks are in walks.v.

   The stream consists of n x n blocks, h_0 = [I, A] and h_(l+1) = [h_l, S h_l] with
   S = relu(h_l W h_l^T)/n.  The blocks of W and of the unembedding O are A' I + B' J with
   A' + B' >= 0 and B' >= 0; A' may be negative. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import piecewise walks.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Words of one sum, evaluated for two graphs. *)
Section Words.
Variables (F : realFieldType) (m : nat).
Local Notation n := m.+1.
Local Notation K := (K F m).
Variables A B : 'M[F]_n.
Hypotheses (A_ge0 : forall i j, 0 <= A i j) (B_ge0 : forall i j, 0 <= B i j).
Hypotheses (A_sym : A^T = A) (B_sym : B^T = B).

Definition evaluate (C : 'M[F]_n) (s : seq (F * seq bool)) : 'M[F]_n :=
  \sum_(t <- s) t.1 *: walks C t.2.

(* X and Y are the same sum, with factors >= 0, of walks of at most D steps in A and in B. *)
Definition same_sum (D : nat) (X Y : 'M[F]_n) : Prop :=
  exists s, [/\ all (fun t => 0 <= t.1) s, all (fun t => steps t.2 <= D)%N s,
                X = evaluate A s & Y = evaluate B s].

Lemma same_word D w : (steps w <= D)%N -> same_sum D (walks A w) (walks B w).
Proof. by move=> le; exists [:: (1, w)]; rewrite /evaluate !big_seq1 /= !scale1r ler01 le. Qed.

Lemma same_one D : same_sum D 1 1. Proof. exact: (same_word (w := [::])). Qed.
Lemma same_K D : same_sum D K K.
Proof. by have := same_word (w := [:: false]) (leq0n D); rewrite /= mulr1. Qed.
Lemma same_A : same_sum 1 A B.
Proof. by have := same_word (w := [:: true]) (leqnn 1); rewrite /= !mulr1. Qed.

Lemma same_zero D : same_sum D 0 0. Proof. by exists [::]; rewrite /evaluate !big_nil. Qed.

Lemma same_le D D' X Y : (D <= D')%N -> same_sum D X Y -> same_sum D' X Y.
Proof.
move=> le [s [pos few -> ->]]; exists s; split=> //.
by apply: sub_all few => t /leq_trans; apply.
Qed.

Lemma same_add D X Y X' Y' : same_sum D X Y -> same_sum D X' Y' -> same_sum D (X + X') (Y + Y').
Proof.
move=> [s [pos few -> ->]] [s' [pos' few' -> ->]]; exists (s ++ s').
by rewrite !all_cat pos pos' few few' /evaluate !big_cat.
Qed.

Lemma same_scale D c X Y : 0 <= c -> same_sum D X Y -> same_sum D (c *: X) (c *: Y).
Proof.
move=> c0 [s [pos few -> ->]]; exists [seq (c * t.1, t.2) | t <- s].
rewrite /evaluate !big_map !scaler_sumr !all_map; split=> //.
- by apply: sub_all pos => t t0 /=; apply: mulr_ge0.
- by apply: eq_bigr => t _; rewrite scalerA.
by apply: eq_bigr => t _; rewrite scalerA.
Qed.

Lemma same_big D (I : Type) (r : seq I) (X Y : I -> 'M[F]_n) :
  (forall k, same_sum D (X k) (Y k)) -> same_sum D (\sum_(k <- r) X k) (\sum_(k <- r) Y k).
Proof.
move=> same; elim: r => [|k r IH]; first by rewrite !big_nil; apply: same_zero.
by rewrite !big_cons; apply: same_add.
Qed.

Lemma walks_cat C w w' : walks C (w ++ w') = walks C w * walks C w' :> 'M[F]_n.
Proof. by elim: w => [|b w IH] /=; rewrite ?mul1r // IH mulrA. Qed.

Lemma same_mul D D' X Y X' Y' :
  same_sum D X Y -> same_sum D' X' Y' -> same_sum (D + D') (X * X') (Y * Y').
Proof.
move=> [s [pos few -> ->]] [s' [pos' few' -> ->]].
have product C : evaluate C s * evaluate C s' =
    evaluate C [seq (t.1 * u.1, t.2 ++ u.2) | t <- s, u <- s'].
  rewrite /evaluate big_allpairs_dep big_distrlr /=; apply: eq_bigr => t _; apply: eq_bigr => u _.
  by rewrite -scalerAl -scalerAr scalerA walks_cat.
rewrite !product; exists [seq (t.1 * u.1, t.2 ++ u.2) | t <- s, u <- s']; split=> //.
  apply/allP => _ /allpairsP[[t u] [/= t_in u_in ->]] /=.
  by rewrite mulr_ge0 ?(allP pos _ t_in) ?(allP pos' _ u_in).
apply/allP => _ /allpairsP[[t u] [/= t_in u_in ->]] /=.
by rewrite /steps count_cat leq_add ?(allP few _ t_in) ?(allP few' _ u_in).
Qed.

(* Transposition reverses words, because A, B and K are symmetric. *)
Lemma walks_rev C w : C^T = C -> (walks C w)^T = walks C (rev w) :> 'M[F]_n.
Proof.
move=> sym; have K_sym : K^T = K.
  by apply/matrixP => i j; rewrite !mxE eq_sym.
elim: w => [|b w IH] /=; first by rewrite trmx1.
rewrite rev_cons -cats1 walks_cat -IH /= mulr1 trmx_mul.
by case: b; rewrite ?sym ?K_sym.
Qed.

Lemma same_tr D X Y : same_sum D X Y -> same_sum D X^T Y^T.
Proof.
move=> [s [pos few -> ->]]; exists [seq (t.1, rev t.2) | t <- s].
rewrite /evaluate !big_map !all_map; split=> //.
- by apply: sub_all few => t; rewrite /steps /= count_rev.
- by rewrite linear_sum; apply: eq_bigr => t _; rewrite linearZ /= walks_rev.
by rewrite linear_sum; apply: eq_bigr => t _; rewrite linearZ /= walks_rev.
Qed.

(* All entries are >= 0. *)
Lemma evaluate_ge0 (C : 'M[F]_n) s i j : (forall k l, 0 <= C k l) -> all (fun t => 0 <= t.1) s ->
  0 <= evaluate C s i j.
Proof.
move=> C_ge0 /allP pos; rewrite summxE big_seq; apply: sumr_ge0 => t t_in; rewrite mxE.
by rewrite mulr_ge0 ?pos //; have /andP[] := le_walks t.2 (le_mx_refl C_ge0) i j.
Qed.

Lemma same_ge0 D X Y : same_sum D X Y -> (forall i j, 0 <= X i j) /\ (forall i j, 0 <= Y i j).
Proof. by move=> [s [pos _ -> ->]]; split=> i j; apply: evaluate_ge0. Qed.

(* Sums are compared word by word. *)
Lemma same_compared D X Y i j i' j' : same_sum D X Y ->
  (forall w, (steps w <= D)%N -> walks A w i j <= walks B w i' j') -> X i j <= Y i' j'.
Proof.
move=> [s [/allP pos /allP few -> ->]] words; rewrite !summxE !big_seq.
apply: ler_sum => t t_in; rewrite !mxE.
by apply: ler_wpmul2l; [exact: pos | exact/words/few].
Qed.

End Words.

(* The transformer. *)
Section Network.
Variables (F : realFieldType) (m : nat).
Local Notation n := m.+1.
Local Notation J := (J F m).
Local Notation K := (K F m).
Implicit Types A B : 'M[F]_n.

(* The weights of a layer: block (u, v) of W is on_I u v I + on_J u v J. *)
Record weights := Weights { on_I : nat -> nat -> F; on_J : nat -> nat -> F }.
Definition nonnegative (W : weights) : Prop :=
  forall u v, 0 <= on_I W u v + on_J W u v /\ 0 <= on_J W u v.

(* A stream: the number of blocks, and the blocks. *)
Definition stream := (nat * (nat -> 'M[F]_n))%type.

Definition scores (h : stream) (W : weights) : 'M[F]_n :=
  \sum_(u < h.1) \sum_(v < h.1) h.2 u * (on_I W u v *: 1 + on_J W u v *: J) * (h.2 v)^T.

Definition layer (h : stream) (W : weights) : stream :=
  ((h.1 + h.1)%N, fun u => if (u < h.1)%N then h.2 u
                           else n%:R^-1 *: map_mx (@relu F) (scores h W) * h.2 (u - h.1)%N).

(* h_(l+1) = [h_l, relu(h_l W h_l^T)/n h_l]. *)
Lemma new_block h W u :
  (layer h W).2 (h.1 + u)%N = n%:R^-1 *: map_mx (@relu F) (scores h W) * h.2 u.
Proof. by rewrite /= ltnNge leq_addr addKn. Qed.

Definition embedding A : stream := (2%N, fun u => if u == 0%N then 1 else A).
Definition run A (Ws : seq weights) : stream := foldl layer (embedding A) Ws.

(* The outputs: h O + theta, where block u of O is o_I u I + o_J u J. *)
Definition output A Ws (o_I o_J : nat -> F) (theta : F) : 'M[F]_n :=
  \sum_(u < (run A Ws).1) (run A Ws).2 u * (o_I u *: 1 + o_J u *: J) + theta *: J.

Lemma two_channels (a b : F) : a *: 1 + b *: J = (a + b) *: 1 + b *: K.
Proof. by rewrite /walks.K scalerBr scalerDl addrA addrAC addrK. Qed.

Section TwoGraphs.
Variables A B : 'M[F]_n.
Hypotheses (A_ge0 : forall i j, 0 <= A i j) (B_ge0 : forall i j, 0 <= B i j).
Hypotheses (A_sym : A^T = A) (B_sym : B^T = B).

Lemma same_block D (a b : F) : 0 <= a + b -> 0 <= b ->
  same_sum A B D (a *: 1 + b *: J) (a *: 1 + b *: J).
Proof.
move=> ab b0; rewrite two_channels; apply: same_add; apply: same_scale => //.
  exact: same_one.
exact: same_K.
Qed.

(* After L layers all blocks are sums of walks of at most 3^L steps, with the same factors. *)
Definition same_streams D (h h' : stream) : Prop :=
  h.1 = h'.1 /\ forall u, same_sum A B D (h.2 u) (h'.2 u).

Lemma same_scores D h h' W : nonnegative W -> same_streams D h h' ->
  same_sum A B (D + D) (scores h W) (scores h' W).
Proof.
move=> W0 [size_h same]; rewrite /scores -size_h; apply: same_big => u; apply: same_big => v.
apply: same_mul; last exact: same_tr.
by rewrite -[D]addn0; apply: same_mul => //; have [? ?] := W0 u v; apply: same_block.
Qed.

Lemma relu_nonnegative (X : 'M[F]_n) : (forall i j, 0 <= X i j) -> map_mx (@relu F) X = X.
Proof. by move=> X0; apply/matrixP => i j; rewrite mxE /relu max_r. Qed.

Lemma same_layer D h h' W : nonnegative W -> same_streams D h h' ->
  same_streams (3 * D) (layer h W) (layer h' W).
Proof.
move=> W0 [size_h same]; split=> [|u]; first by rewrite /= size_h.
have scored := same_scores W0 (conj size_h same); have [pos pos'] := same_ge0 A_ge0 B_ge0 scored.
rewrite /= -size_h; case: ifP => _; first by apply: same_le (same u); apply: leq_pmull.
rewrite !relu_nonnegative // (_ : 3 * D = D + D + D)%N; last by rewrite !mulSn addn0 addnA.
by apply: same_mul => //; apply: same_scale; rewrite // invr_ge0 ler0n.
Qed.

Lemma same_layers Ws D h h' : (forall W, List.In W Ws -> nonnegative W) ->
  same_streams D h h' -> same_streams (3 ^ size Ws * D) (foldl layer h Ws) (foldl layer h' Ws).
Proof.
elim: Ws D h h' => [|W Ws IH] D h h' W0 same; first by rewrite mul1n.
rewrite /= expnSr -mulnA; apply: IH => [V V_in|]; first by apply: W0; right.
by apply: same_layer => //; apply: W0; left.
Qed.

Lemma same_run Ws : (forall W, List.In W Ws -> nonnegative W) ->
  same_streams (3 ^ size Ws) (run A Ws) (run B Ws).
Proof.
move=> W0; rewrite -[(3 ^ size Ws)%N]muln1; apply: same_layers => //; split=> // u /=.
by case: ifP => _; [exact: same_one | exact: same_A].
Qed.

End TwoGraphs.

(* The theorem: G has degrees of at most a, and i and j are farther apart than 3^L; the components
   of the other graph are cliques of at least a nodes, here two of them.  A cannot exceed B. *)
Section Witness.
Variables (a : F) (A : 'M[F]_n) (side : 'I_n -> bool).
Hypotheses (A_ge0 : forall i j, 0 <= A i j) (A_loops : forall i, A i i = 1) (A_sym : A^T = A).
Hypothesis degrees : forall i, \sum_j A i j <= a.
Hypothesis large : forall i, a <= \sum_j (side i == side j)%:R.
Variables (Ws : seq weights) (o_I o_J : nat -> F) (theta : F).
Hypothesis Ws_ge0 : forall W, List.In W Ws -> nonnegative W.
Hypothesis o_ge0 : forall u, 0 <= o_I u + o_J u /\ 0 <= o_J u.
Let L := size Ws.

Theorem two_clique_witness i j i' j' :
  (forall k, (k <= 3 ^ L)%N -> (A ^+ k) i j = 0) -> side i' != side j' ->
  output A Ws o_I o_J theta i j <= output (two_cliques F side) Ws o_I o_J theta i' j'.
Proof.
move=> far apart; set B := two_cliques F side.
have B_ge0 k l : 0 <= B k l by rewrite mxE ler0n.
have B_sym : B^T = B by apply/matrixP => k l; rewrite !mxE eq_sym.
have sum_ge0 : 0 <= \sum_k A i k by apply: sumr_ge0.
have a_ge0 : 0 <= a := le_trans sum_ge0 (degrees i).
have [blocks same] := same_run A_ge0 B_ge0 A_sym B_sym Ws_ge0.
rewrite /output -blocks mxE [X in _ <= X]mxE.
have -> : (theta *: J) i j = (theta *: J) i' j' by rewrite !mxE.
rewrite ler_add2r; apply: (@same_compared _ _ A B (3 ^ L)).
  apply: same_big => u; rewrite -[(3 ^ L)%N]addn0; apply: same_mul => //.
  by have [? ?] := o_ge0 u; apply: same_block.
move=> w few; have at_most := far_walks A_ge0 A_loops A_sym degrees (far _ few).
have at_least := clique_walks a_ge0 large w apart.
exact: le_trans at_most at_least.
Qed.

(* So a prediction "connected" beyond 3^L is made for all pairs between the cliques, too. *)
Corollary no_prediction_beyond i j i' j' :
  (forall k, (k <= 3 ^ L)%N -> (A ^+ k) i j = 0) -> side i' != side j' ->
  0 < output A Ws o_I o_J theta i j ->
  0 < output (two_cliques F side) Ws o_I o_J theta i' j'.
Proof. by move=> far apart /lt_le_trans; apply; apply: two_clique_witness. Qed.

End Witness.

(* The cliques of the statement: floor(n/2) and ceil(n/2) nodes. *)
Definition first_half (i : 'I_n) : bool := (i < n./2)%N.

Lemma halves_are_large i : n./2%:R <= \sum_j (first_half i == first_half j)%:R :> F.
Proof.
have twice : (n./2 + n./2 <= n)%N.
  by rewrite addnn -[X in (_ <= X)%N](odd_double_half n) leq_addl.
have half : (n./2 <= n)%N := leq_trans (leq_addr _ _) twice.
rewrite -natr_sum ler_nat -(big_mkord xpredT (fun j => first_half i == (j < n./2)%N : nat)).
rewrite (big_cat_nat _ _ _ (leq0n _) half) /=; case: (first_half i).
  rewrite (eq_big_nat _ _ (F2 := fun=> 1%N)) => [|j /andP[_ ->] //].
  by rewrite sum_nat_const_nat subn0 muln1 leq_addr.
rewrite [X in (_ <= _ + X)%N](eq_big_nat _ _ (F2 := fun=> 1%N)) => [|j /andP[ge _]].
  rewrite sum_nat_const_nat muln1; apply: leq_trans (leq_addl _ _).
  by rewrite leq_subRL.
by rewrite ltnNge ge.
Qed.

Corollary halves_witness A Ws o_I o_J theta i j i' j' :
  (forall k l, 0 <= A k l) -> (forall k, A k k = 1) -> A^T = A ->
  (forall k, \sum_l A k l <= n./2%:R) ->
  (forall W, List.In W Ws -> nonnegative W) -> (forall u, 0 <= o_I u + o_J u /\ 0 <= o_J u) ->
  (forall k, (k <= 3 ^ size Ws)%N -> (A ^+ k) i j = 0) -> first_half i' != first_half j' ->
  output A Ws o_I o_J theta i j <= output (two_cliques F first_half) Ws o_I o_J theta i' j'.
Proof.
move=> A_ge0 A_loops A_sym degrees Ws_ge0 o_ge0.
exact: (two_clique_witness A_ge0 A_loops A_sym degrees halves_are_large).
Qed.

End Network.

Print Assumptions two_clique_witness.
Print Assumptions no_prediction_beyond.
Print Assumptions halves_witness.
