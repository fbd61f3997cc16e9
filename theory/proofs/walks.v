(* Walks with jumps in graphs with loops: theory/graphs/walks.py.

   A is the adjacency matrix and K = J - I, so a word in A and K counts walks of k steps with r
   jumps.  If all degrees are at most a and no walk of at most k steps leads from i to j, there are
   at most a^k N_r such walks from i to j.  If all components are cliques of at least a nodes, there
   are at least a^k N_r between two of them.  Here K^r = N_r J + (-1)^r I.

   Proof: complete A to a symmetric matrix B all of whose rows have the sum a, entry by entry above
   A (or below it).  Then K and B commute, and K^r B^k = a^k N_r J + (-1)^r B^k. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Walks.
Variables (F : realFieldType) (m : nat).
Local Notation n := m.+1.
Implicit Types (A B X Y : 'M[F]_n) (i j : 'I_n) (w : seq bool).

Definition J : 'M[F]_n := const_mx 1.
Definition K : 'M[F]_n := J - 1.

(* A word: true for a step A, false for a jump K. *)
Definition walks A w : 'M[F]_n := foldr (fun step X => (if step then A else K) * X) 1 w.
Definition steps w : nat := count id w.
Definition jumps w : nat := count negb w.

(* N_0 = 0 and N_(r+1) = (n - 1) N_r + (-1)^r. *)
Fixpoint N (r : nat) : F := if r is q.+1 then m%:R * N q + (-1) ^+ q else 0.

Lemma JJ : J * J = n%:R *: J.
Proof.
apply/matrixP => i j; rewrite !mxE (eq_bigr (fun=> 1)) => [|k _]; last by rewrite !mxE mulr1.
by rewrite sumr_const card_ord mulr1.
Qed.

Lemma K_power r : K ^+ r = N r *: J + (-1) ^+ r *: 1.
Proof.
elim: r => [|r IH]; first by rewrite /= scale0r add0r scale1r expr0.
rewrite exprS IH /K mulrDr -!scalerAr mulr1 mulrBl JJ mul1r /=.
have n_is : n%:R = m%:R + 1 :> F by rewrite -addn1 natrD.
have -> : n%:R *: J - J = m%:R *: J by rewrite n_is scalerDl scale1r addrK.
by rewrite scalerA scalerBr addrA [N r * _]mulrC -scalerDl exprS mulN1r scaleNr.
Qed.

(* Rows and columns of B have the sum a. *)
Definition regular (a : F) B : Prop := B * J = a *: J /\ J * B = a *: J.

Lemma regular_walks a B w : regular a B ->
  walks B w = (a ^+ steps w * N (jumps w)) *: J + (-1) ^+ jumps w *: B ^+ steps w.
Proof.
case=> BJ JB; have comm_BK : GRing.comm B K.
  by rewrite /GRing.comm /K mulrBr mulrBl BJ JB mulr1 mul1r.
have -> : walks B w = K ^+ jumps w * B ^+ steps w.
  elim: w => [|[] w IH]; rewrite /jumps /steps /= ?mulr1 // IH add0n add1n exprS.
    by rewrite !mulrA (commrX _ comm_BK).
  by rewrite mulrA.
have JBk k : J * B ^+ k = a ^+ k *: J.
  elim: k => [|k IH]; first by rewrite !expr0 mulr1 scale1r.
  by rewrite exprSr mulrA IH -scalerAl JB scalerA exprSr.
by rewrite K_power mulrDl -!scalerAl mul1r JBk scalerA mulrC.
Qed.

(* Entry by entry. *)
Definition le_mx X Y : Prop := forall i j, 0 <= X i j <= Y i j.

Lemma le_mx_mul X X' Y Y' : le_mx X X' -> le_mx Y Y' -> le_mx (X * Y) (X' * Y').
Proof.
move=> HX HY i j; rewrite !mxE; apply/andP; split.
  by apply: sumr_ge0 => k _; have /andP[? _] := HX i k; have /andP[? _] := HY k j; apply: mulr_ge0.
apply: ler_sum => k _; have /andP[? ?] := HX i k; have /andP[? ?] := HY k j.
exact: ler_pmul.
Qed.

Lemma le_mx_refl X : (forall i j, 0 <= X i j) -> le_mx X X.
Proof. by move=> HX i j; rewrite HX lexx. Qed.

Lemma K_ge0 i j : 0 <= K i j.
Proof. by rewrite !mxE; case: (i == j); rewrite ?subrr ?subr0 ?ler01. Qed.

Lemma one_ge0 i j : 0 <= (1 : 'M[F]_n) i j.
Proof. by rewrite mxE ler0n. Qed.

Lemma le_walks A B w : le_mx A B -> le_mx (walks A w) (walks B w).
Proof.
move=> AB; elim: w => [|[] w IH] /=; first exact/le_mx_refl/one_ge0.
  exact: le_mx_mul.
exact: le_mx_mul (le_mx_refl K_ge0) IH.
Qed.

Lemma le_power A B k : le_mx A B -> le_mx (A ^+ k) (B ^+ k).
Proof.
move=> AB; elim: k => [|k IH]; first exact/le_mx_refl/one_ge0.
by rewrite !exprS; apply: le_mx_mul.
Qed.

(* (1) At most a^k N_r walks, for nodes without a walk of k steps. *)
Section Far.
Variables (a : F) (A : 'M[F]_n).
Hypotheses (A_ge0 : forall i j, 0 <= A i j) (A_loops : forall i, A i i = 1) (A_sym : A^T = A).
Hypothesis degrees : forall i, \sum_j A i j <= a.

(* The diagonal completes each sum of a row to a. *)
Definition completed : 'M[F]_n := A + diag_mx (\row_i (a - \sum_j A i j)).

Lemma row_sum (B : 'M[F]_n) : (forall i, \sum_j B i j = a) -> B^T = B -> regular a B.
Proof.
move=> rows sym; have BJ : B * J = a *: J.
  apply/matrixP => i j; rewrite !mxE mulr1 -[RHS](rows i).
  by apply: eq_bigr => k _; rewrite mxE mulr1.
split=> //; have := congr1 trmx BJ; rewrite trmx_mul sym linearZ /=.
by have -> : J^T = J by apply/matrixP => i j; rewrite !mxE.
Qed.

Lemma completed_regular : regular a completed.
Proof.
apply: row_sum => [i|]; last by rewrite /completed linearD /= A_sym tr_diag_mx.
rewrite (eq_bigr (fun j => A i j + (a - \sum_j A i j) *+ (i == j))) => [|j _]; last by rewrite !mxE.
rewrite big_split /= [X in _ + X](bigD1 i) //= eqxx [X in _ + (_ + X)]big1 ?addr0 => [|j /negPf ji].
  by rewrite mulrb /= addrC subrK.
by rewrite eq_sym ji.
Qed.

Lemma below_completed : le_mx A completed.
Proof.
move=> i j; rewrite A_ge0 !mxE ler_addl mulrb; case: ifP => _; last exact: lexx.
by rewrite subr_ge0 degrees.
Qed.

Lemma completed_below : le_mx completed ((1 + a) *: A).
Proof.
move=> i j; have sum_ge0 : 0 <= \sum_k A i k by apply: sumr_ge0.
have a_ge0 : 0 <= a := le_trans sum_ge0 (degrees i).
have /andP[Aij below] := below_completed i j; rewrite (le_trans Aij below) !mxE.
have [->|ij] := eqVneq i j; last by rewrite addr0 mulrDl mul1r ler_addl mulr_ge0.
by rewrite A_loops mulr1 mulrb /= ler_add2l ger_addl oppr_le0; apply: sumr_ge0.
Qed.

Theorem far_walks w i j : (A ^+ steps w) i j = 0 -> walks A w i j <= a ^+ steps w * N (jumps w).
Proof.
move=> far; have /andP[_] := le_walks w below_completed i j; move=> /le_trans; apply.
have zero : (completed ^+ steps w) i j = 0.
  have := le_power (steps w) completed_below i j.
  by rewrite exprZn mxE far mulr0 => /le_anti.
by rewrite (regular_walks w completed_regular) !mxE zero mulr0 addr0 mulr1.
Qed.

End Far.

(* (3) At least a^k N_r walks between two cliques of at least a nodes each. *)
Section Cliques.
Variables (a : F) (side : 'I_n -> bool).
Let clique (i : 'I_n) : F := \sum_j (side i == side j)%:R.
Hypotheses (a_ge0 : 0 <= a) (large : forall i, a <= clique i).

Definition two_cliques : 'M[F]_n := \matrix_(i, j) (side i == side j)%:R.
Definition thinned : 'M[F]_n := \matrix_(i, j) (a / clique i * (side i == side j)%:R).

Let clique_gt0 i : 0 < clique i.
Proof.
rewrite /clique (bigD1 i) //= eqxx ltr_paddr ?ltr01 //.
by apply: sumr_ge0 => j _; rewrite ler0n.
Qed.

Lemma thinned_regular : regular a thinned.
Proof.
apply: row_sum => [i|].
  rewrite (eq_bigr (fun j => a / clique i * (side i == side j)%:R)) => [|j _]; last by rewrite mxE.
  by rewrite -mulr_sumr divfK // gt_eqF.
apply/matrixP => i j; rewrite !mxE eq_sym; case: eqP => [same|_]; last by rewrite !mulr0.
by congr (a / _ * _); apply: eq_bigr => k _; rewrite same.
Qed.

Lemma thinned_below : le_mx thinned two_cliques.
Proof.
move=> i j; rewrite !mxE; case: (side i == side j); rewrite ?mulr0 ?lexx ?mulr1 //.
by rewrite ler_pdivr_mulr ?mul1r ?large // andbT divr_ge0 // ltW.
Qed.

(* No walk without a jump leads from one clique to the other. *)
Lemma thinned_power k i j : side i != side j -> (thinned ^+ k) i j = 0.
Proof.
elim: k i => [|k IH] i ij.
  by rewrite mxE; have [same|//] := eqVneq i j; rewrite same eqxx in ij.
rewrite exprS mxE big1 // => l _; rewrite mxE.
have [same|_] := eqVneq (side i) (side l); last by rewrite mulr0 mul0r.
by rewrite IH ?mulr0 // -same.
Qed.

Theorem clique_walks w i j : side i != side j ->
  a ^+ steps w * N (jumps w) <= walks two_cliques w i j.
Proof.
move=> ij; have /andP[_] := le_walks w thinned_below i j; apply: le_trans.
by rewrite (regular_walks w thinned_regular) !mxE thinned_power // mulr0 addr0 mulr1.
Qed.

End Cliques.
End Walks.

Print Assumptions far_walks.
Print Assumptions clique_walks.
