(* L layers of linear or ReLU attention with ReLU MLPs compute piecewise polynomials of degree at
   most 3^L along a line of prompts: theory/regression/depth.py. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import degrees attention_layers piecewise.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Layers.
Variables (F : realFieldType) (T D : nat).
Implicit Types (h : F -> 'M[F]_(T, D)).
Let id_F : {rmorphism F -> F} := [rmorphism of idfun].

Definition pieces m k l (H : F -> 'M[F]_(k, l)) : Prop :=
  forall i j, piecewise m (fun t => H t i j).

Lemma pieces_mul m m' j k l (G : F -> 'M_(j, k)) (H : F -> 'M_(k, l)) :
  pieces m G -> pieces m' H -> pieces (m + m') (fun t => G t *m H t).
Proof.
move=> HG HH i i'.
apply: (@piecewise_ext _ _ (fun t => \sum_a G t i a * H t a i')) => [t|]; first by rewrite mxE.
by apply: piecewise_sum => a; apply: piecewise_mul.
Qed.

Lemma pieces_add m k l (G H : F -> 'M_(k, l)) :
  pieces m G -> pieces m H -> pieces m (fun t => G t + H t).
Proof.
move=> HG HH i j; apply: (@piecewise_ext _ _ (fun t => G t i j + H t i j)).
  by move=> t; rewrite mxE.
exact: piecewise_add.
Qed.

Lemma pieces_relu m k l (H : F -> 'M_(k, l)) :
  pieces m H -> pieces m (fun t => map_mx (@relu F) (H t)).
Proof.
move=> HH i j; apply: (@piecewise_ext _ _ (fun t => relu (H t i j))) => [t|]; first by rewrite mxE.
exact: piecewise_relu.
Qed.

Lemma pieces_const m k l (A : 'M[F]_(k, l)) : pieces m (fun=> A).
Proof. by move=> i j; apply: piecewise_const. Qed.

Lemma pieces_with_one m h : pieces m h -> pieces m (fun t => with_one (h t)).
Proof.
move=> Hh i j; rewrite /with_one; case: (splitP j) => k Ek.
  apply: (@piecewise_ext _ _ (fun t => h t i k)) => [t|]; last exact: Hh.
  by rewrite (_ : j = lshift 1 k) ?row_mxEl //; apply: val_inj.
apply: (@piecewise_ext _ _ (fun=> 1)) => [t|]; last exact: piecewise_const.
by rewrite (_ : j = rshift D k) ?row_mxEr ?mxE //; apply: val_inj.
Qed.

Lemma pieces_read m k h (W : 'M[F]_(D + 1, k)) :
  pieces m h -> pieces m (fun t => with_one (h t) *m W).
Proof.
move=> Hh; rewrite -[m]addn0.
by apply: pieces_mul; [exact: pieces_with_one | exact: pieces_const].
Qed.

Lemma pieces_score m h (A : head F T D) :
  pieces m h -> pieces (m + m) (fun t => score id_F A (h t)).
Proof.
move=> Hh; apply: pieces_mul; first exact: pieces_read.
move=> i j; apply: (@piecewise_ext _ _ (fun t => with_one (h t) j i)).
  by move=> t; rewrite [RHS]mxE.
exact: pieces_with_one.
Qed.

(* A head multiplies a query, a key and a value; the ReLU does not change the degree. *)
Lemma pieces_attend m h (A : head F T D) :
  pieces m h -> pieces (3 * m) (fun t => attend (@relu F) id_F A (h t)).
Proof.
move=> Hh; rewrite (_ : 3 * m = (m + m) + m)%N; last by rewrite !mulSn addn0 addnA.
apply: pieces_mul; last exact: pieces_read.
move=> i j; pose s t := score id_F A (h t) i j.
have Hs : piecewise (m + m) s by apply: pieces_score.
apply: (@piecewise_ext _ _ (fun t => mask A i j * (if rectified A then relu (s t) else s t))).
  by move=> t; rewrite mxE.
apply: (@piecewise_mul _ 0); first exact: piecewise_const.
by case: rectified; [exact: piecewise_relu | exact: Hs].
Qed.

Lemma pieces_heads m h (As : seq (head F T D)) :
  pieces m h -> pieces (3 * m) (fun t => add_heads (@relu F) id_F As (h t)).
Proof.
move=> Hh; apply: pieces_add.
  by move=> i j; apply: piecewiseW (Hh i j); apply: leq_pmull.
move=> i j; apply: (@piecewise_ext _ _
  (fun t => \sum_(A <- As) attend (@relu F) id_F A (h t) i j)).
  by move=> t; rewrite summxE.
by apply: piecewise_sum => A; apply: pieces_attend.
Qed.

Lemma pieces_mlps m h (ms : seq (mlp F D)) :
  pieces m h -> pieces m (fun t => foldl (add_mlp (@relu F) id_F) (h t) ms).
Proof.
elim: ms h => [|M ms IH] h Hh //=; apply: IH; apply: pieces_add => //.
rewrite -[m]addn0; apply: pieces_mul; last exact: pieces_const.
by apply: pieces_relu; apply: pieces_read.
Qed.

(* A layer at most triples the degree. *)
Lemma pieces_layer m h (l : layer F T D) :
  pieces m h -> pieces (3 * m) (fun t => add_layer (@relu F) id_F (h t) l).
Proof. by move=> Hh; apply: pieces_mlps; apply: pieces_heads. Qed.

Theorem pieces_run m h (ls : seq (layer F T D)) :
  pieces m h -> pieces (3 ^ size ls * m) (fun t => run (@relu F) id_F ls (h t)).
Proof.
elim: ls m h => [|l ls IH] m h Hh; first by rewrite mul1n.
by rewrite expnSr -mulnA; apply: IH (pieces_layer l Hh).
Qed.

End Layers.

Print Assumptions pieces_run.
