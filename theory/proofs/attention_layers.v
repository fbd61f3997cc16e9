(* The most general layers of linear or ReLU attention: the model of the lower bound on layers
   (theory/regression/depth.py).

   The stream is a matrix h with one row for each token; T tokens, D columns.  A head has arbitrary
   bilinear scores, an arbitrary mask whose entries may also be numbers such as 1/n, and an
   arbitrary linear map of values.  Reads are affine: a column of ones is appended to the stream.
   Heads are linear, or the ReLU of scores is taken.  An MLP has one hidden layer of ReLUs and is
   added to the stream; a layer has any number of heads, followed by any number of MLPs.

   Weights are in a ring R and the numbers of the stream in a ring K that contains R, such as the
   polynomials over R. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import degrees.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Layers.
Variables (R : comRingType) (T D : nat).

Record head := Head {
  rectified : bool;                    (* ReLU attention, or linear attention *)
  query_key : 'M[R]_(D + 1);           (* W_Q W_K^T, with biases *)
  mask : 'M[R]_T;                      (* 0 where a token does not attend *)
  value_output : 'M[R]_(D + 1, D)      (* W_V W_O, with biases *)
}.

Record mlp := MLP {
  neurons : nat;
  W_in : 'M[R]_(D + 1, neurons);
  W_out : 'M[R]_(neurons, D)
}.

Record layer := Layer { heads : seq head; mlps : seq mlp }.

Variables (K : comRingType) (relu : K -> K) (in_K : {rmorphism R -> K}).
Implicit Types (h : 'M[K]_(T, D)).
Let inK k l (W : 'M[R]_(k, l)) : 'M[K]_(k, l) := map_mx in_K W.

Definition with_one h : 'M[K]_(T, D + 1) := row_mx h (const_mx 1).

Definition score (A : head) h : 'M[K]_T :=
  with_one h *m inK (query_key A) *m (with_one h)^T.

Definition attention (A : head) h : 'M[K]_T :=
  \matrix_(i, j) (in_K (mask A i j) *
                  (if rectified A then relu (score A h i j) else score A h i j)).

Definition attend (A : head) h : 'M[K]_(T, D) :=
  attention A h *m (with_one h *m inK (value_output A)).

Definition add_heads (As : seq head) h : 'M[K]_(T, D) := h + \sum_(A <- As) attend A h.

Definition add_mlp h (m : mlp) : 'M[K]_(T, D) :=
  h + map_mx relu (with_one h *m inK (W_in m)) *m inK (W_out m).

Definition add_layer h (l : layer) : 'M[K]_(T, D) := foldl add_mlp (add_heads (heads l) h) (mlps l).

Definition run (ls : seq layer) h : 'M[K]_(T, D) := foldl add_layer h ls.

(* A layer consists of its heads, and then of its MLPs. *)
Lemma layer_is (As : seq head) (m m' : mlp) h :
  add_layer h (Layer As [:: m; m']) = add_mlp (add_mlp (h + \sum_(A <- As) attend A h) m) m'.
Proof. by []. Qed.

Lemma run_cat ls ls' h : run (ls ++ ls') h = run ls' (run ls h).
Proof. exact: foldl_cat. Qed.

(* The unembedding reads one token. *)
Definition output (i : 'I_T) (out : 'cV[R]_(D + 1)) h : K := (with_one h *m inK out) i 0.

End Layers.

(* Layers of linear attention: no head is rectified and there is no MLP. *)
Definition linear_layer (R : comRingType) T D (l : layer R T D) : bool :=
  all (fun A => ~~ rectified A) (heads l) && nilp (mlps l).

(* If the stream consists of polynomials, a layer of linear attention at most triples the degree:
   a head multiplies a query, a key and a value. *)
Section LinearLayers.
Variables (R : comRingType) (T D : nat).
Implicit Types (h : 'M[{poly R}]_(T, D)).
Let polyC_of : {rmorphism R -> {poly R}} := [rmorphism of (@polyC R)].
Let linear_run := @run R T D _ id polyC_of.

Lemma degree_with_one m h : degree_le m h -> degree_le m (with_one h).
Proof.
move=> Hh i j; rewrite mxE; case: (split j) => k; first exact: Hh.
by rewrite mxE (leq_trans (size_polyC_leq1 1)).
Qed.

Lemma degree_read m k h (W : 'M[R]_(D + 1, k)) :
  degree_le m h -> degree_le m (with_one h *m map_mx polyC_of W).
Proof.
move=> Hh; rewrite -[m]addn0.
by apply: degree_mul; [exact: degree_with_one | exact: degree_const].
Qed.

Lemma degree_score m h (A : head R T D) :
  degree_le m h -> degree_le (m + m) (score polyC_of A h).
Proof. by move=> Hh; apply: degree_mul; [exact: degree_read | exact/degree_tr/degree_with_one]. Qed.

Lemma degree_attend m h (A : head R T D) : ~~ rectified A ->
  degree_le m h -> degree_le (3 * m) (attend id polyC_of A h).
Proof.
move=> linA Hh; rewrite (_ : 3 * m = (m + m) + m)%N; last by rewrite !mulSn addn0 addnA.
apply: degree_mul; last exact: degree_read.
move=> i j; rewrite mxE (negPf linA); apply: (@size_mul_le _ _ _ 0); first exact: size_polyC_leq1.
exact: degree_score.
Qed.

Lemma degree_layer m h (l : layer R T D) : linear_layer l ->
  degree_le m h -> degree_le (3 * m) (add_layer id polyC_of h l).
Proof.
case: l => As ms /andP[/= linAs /nilP ->] Hh; rewrite /add_layer /add_heads /=.
apply: degree_add; first by apply: degree_leW Hh; apply: leq_pmull.
elim: As linAs => [_|A As IH /andP[linA linAs]].
  by move=> i j; rewrite big_nil mxE size_poly0.
by rewrite big_cons; apply: degree_add; [exact: degree_attend | exact: IH].
Qed.

(* L layers: degree at most 3^L, for tokens of degree 1. *)
Theorem degree_run m h (ls : seq (layer R T D)) : all (@linear_layer R T D) ls ->
  degree_le m h -> degree_le (3 ^ size ls * m) (linear_run ls h).
Proof.
elim: ls m h => [|l ls IH] m h; first by rewrite mul1n.
case/andP=> lin_l lin_ls Hh; rewrite expnSr -mulnA.
exact: IH (degree_layer lin_l Hh).
Qed.

Corollary degree_output h (ls : seq (layer R T D)) i out : all (@linear_layer R T D) ls ->
  degree_le 1 h -> (size (output polyC_of i out (linear_run ls h)) <= (3 ^ size ls).+1)%N.
Proof.
by move=> lin Hh; apply: degree_read; rewrite -[X in degree_le X]muln1; apply: degree_run.
Qed.

End LinearLayers.

(* The degree 3^L is attained, so 3^L - 1 would be wrong: one token with one number p, and one
   head that adds p p p. *)
Section Attained.
Variable R : idomainType.
Let polyC_of : {rmorphism R -> {poly R}} := [rmorphism of (@polyC R)].

Definition cube : layer R 1 1 :=
  Layer [:: Head false (block_mx 1 0 0 0) 1 (col_mx 1 0)] [::].

Lemma cube_layer (p : {poly R}) : add_layer id polyC_of p%:M cube = (p + p ^+ 3)%:M.
Proof.
rewrite /add_layer /add_heads big_seq1 /attend /attention /score /with_one /=.
rewrite map_block_mx map_col_mx !map_mx1 !map_mx0 mul_row_block mul_row_col.
rewrite !mulmx0 !addr0 !mulmx1 tr_row_mx mul_row_col mul0mx addr0 tr_scalar_mx.
apply/matrixP => i j; rewrite !ord1 !mxE big_ord1 !mxE /= !mulr1n big_ord1 !mxE eqxx.
by rewrite mul1r mulr1n !exprS expr0 mulr1 mulrA.
Qed.

Theorem degree_is_attained L :
  exists2 p : {poly R}, run id polyC_of (nseq L cube) 'X%:M = p%:M & size p = (3 ^ L).+1.
Proof.
elim: L => [|L [p run_p size_p]]; first by exists 'X; rewrite ?size_polyX.
have p0 : p != 0 by rewrite -size_poly_gt0 size_p.
exists (p + p ^+ 3).
  have -> : nseq L.+1 cube = nseq L cube ++ [:: cube] by rewrite -(nseqD L 1) addn1.
  by rewrite run_cat run_p /= cube_layer.
have size2 : size (p ^+ 2) = (3 ^ L * 2).+1.
  by rewrite expr2 size_mul // size_p addSn addnS /= muln2 addnn.
have size3 : size (p ^+ 3) = (3 ^ L.+1).+1.
  rewrite exprS size_mul // ?expf_neq0 // size_p size2 addSn addnS /= expnSr.
  by rewrite !mulnS muln0 addn0 addnA.
rewrite addrC size_addl size3 // size_p ltnS.
by rewrite ltn_exp2l.
Qed.

End Attained.

Print Assumptions degree_run.
Print Assumptions degree_output.
Print Assumptions degree_is_attained.
