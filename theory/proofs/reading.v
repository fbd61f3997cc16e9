(* Soundness of reading formulas: what linear heads compute, as polynomials in S = X^T X.

   Write S = X^T X and b = X^T y.  After every layer of a program, at every token with input x and
   label y, vector register r contains p_r(S) x, and scalar register r contains
   a_r y + x^T g_r(S) b, for all d >= 1, n, X and y.  The polynomials p_r and g_r and the numbers
   a_r depend on the numbers of the program alone, and are computed by `read` below:

     K   = sum of c_rs p_r p_s over the scores        the kernel of a head: query r, key s
     p_s : + v_rs t K p_r                             sum_i (p_r x_i) <x_i, K x> = p_r S K x
     g_s : + v_rs K (a_r + t g_r)                     sum_i (a_r y_i + <x_i, g_r b>) <x_i, K x>

   and multiples of the token's own registers.  So a program predicts x^T g(S) b, and two programs
   with the same polynomial g have equal predictions for all d, n, X, y and x. *)

From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import linear_heads.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Reading.

Variables (R : comRingType) (V W : eqType).

(* The contents of all registers: p for vectors, a and g for scalars. *)
Record formulas := Formulas { p : V -> {poly R}; a : W -> R^o; g : W -> {poly R} }.

Definition kernel (h : head R V W) (f : formulas) : {poly R} :=
  \sum_(t <- scores h) t.1.1 *: (p f t.1.2 * p f t.2).

Definition read_layer (f : formulas) (l : layer R V W) : formulas :=
  Formulas
    (fun r => p f r + moved (own_vectors l) (p f) r +
      \sum_(h <- heads l) 'X * kernel h f * moved (vectors h) (p f) r)
    (fun r => a f r + moved (own_scalars l) (a f) r)
    (fun r => g f r + moved (own_scalars l) (g f) r +
      \sum_(h <- heads l)
        kernel h f * moved (scalars h) (fun s => (a f s)%:P + 'X * g f s) r).

Definition read_embedding (P : program R V W) : formulas :=
  Formulas (moved (embed_x P) (fun=> 1)) (moved (embed_y P) (fun=> 1 : R^o)) (fun=> 0).

(* The formulas after the first l layers, and that of the prediction. *)
Definition read (P : program R V W) (l : nat) : formulas :=
  foldl read_layer (read_embedding P) (take l (layers P)).

Definition read_prediction (P : program R V W) : {poly R} :=
  moved (answer P) (g (read P (size (layers P)))) tt.

End Reading.

Section Soundness.

Variables (R : comRingType) (V W : eqType) (d n : nat).
Variables (X : 'M[R]_(n, d.+1)) (y : 'cV[R]_n).

Let S : 'M[R]_d.+1 := X^T *m X.
Let b : 'cV[R]_d.+1 := X^T *m y.

(* The matrix q(S) for a polynomial q: it is symmetric and commutes with S. *)
Local Notation at_S q := (horner_mx S q).

Lemma S_symmetric : S^T = S.
Proof. by rewrite trmx_mul trmxK. Qed.

Lemma at_S_mul (q r : {poly R}) : at_S (q * r) = at_S q *m at_S r.
Proof. by rewrite rmorphM. Qed.

Lemma polynomial_symmetric (q : {poly R}) : (at_S q)^T = at_S q.
Proof.
elim/poly_ind: q => [|q c IH]; first by rewrite rmorph0 trmx0.
rewrite rmorphD rmorphM /= horner_mx_X horner_mx_C -mulmxE linearD /= tr_scalar_mx trmx_mul.
by rewrite IH S_symmetric -(comm_horner_mx q (comm_mx_refl S)).
Qed.

(* What the registers of a token with input x and label z contain, by the formulas f. *)
Definition contains (f : formulas R V W) (x : 'rV[R]_d.+1) (z : R) (t : token R V W d.+1) :=
  (forall r, vec t r = x *m at_S (p f r)) /\
  (forall r, sca t r = a f r * z + (x *m at_S (g f r) *m b) 0 0).

(* A weighted sum of rows x_i A with weights <q, x_i> is q X^T X A = q S A. *)
Lemma weighted_rows m (q : 'rV[R]_d.+1) (A : 'M[R]_(n, m)) :
  \sum_i inner q (row i X) *: row i A = q *m X^T *m A.
Proof.
rewrite mulmx_sum_row; apply: eq_bigr => i _; congr (_ *: _).
by rewrite /inner !mxE; apply: eq_bigr => j _; rewrite !mxE.
Qed.

(* Moves act on a_s and g_s alone when registers s contain a_s z + x^T g_s(S) b ... *)
Lemma moved_contents (A : Type) (B : eqType) (ms : moves R A B) (a : A -> R^o)
    (g : A -> {poly R}) (x : 'rV[R]_d.+1) (z : R) r :
  moved ms (fun s => a s * z + (x *m at_S (g s) *m b) 0 0 : R^o) r =
  moved ms a r * z + (x *m at_S (moved ms g r) *m b) 0 0.
Proof.
elim: ms => [|[[c s] o] ms IH] /=.
  by rewrite mul0r add0r rmorph0 mulmx0 mul0mx mxE.
rewrite IH; case: eqP => _; last by rewrite !add0r.
rewrite rmorphD mulmxDr mulmxDl [X in _ = _ + X]mxE mulrDl addrACA; congr (_ + _).
by rewrite linearZ /= -scalemxAr -scalemxAl [X in _ = _ + X]mxE -scalerAl scalerDr.
Qed.

(* ... and on the polynomials a_s + t g_s. *)
Lemma moved_labels (ms : moves R W W) (a : W -> R^o) (g : W -> {poly R}) r :
  moved ms (fun s => (a s)%:P + 'X * g s) r = (moved ms a r)%:P + 'X * moved ms g r.
Proof.
elim: ms => [|[[c s] o] ms IH] /=; first by rewrite mulr0 addr0.
rewrite IH; case: eqP => _; last by rewrite !add0r.
by rewrite polyCD mulrDr addrACA scalerDr scalerAr -!mul_polyC polyCM.
Qed.

Lemma predictedD (q r : {poly R}) (x : 'rV[R]_d.+1) :
  (x *m at_S (q + r) *m b) 0 0 = (x *m at_S q *m b) 0 0 + (x *m at_S r *m b) 0 0.
Proof. by rewrite rmorphD mulmxDr mulmxDl [LHS]mxE. Qed.

Lemma predicted_sum (I : Type) (s : seq I) (q : I -> {poly R}) (x : 'rV[R]_d.+1) :
  (x *m at_S (\sum_(i <- s) q i) *m b) 0 0 = \sum_(i <- s) ((x *m at_S (q i) *m b) 0 0 : R^o).
Proof. by rewrite rmorph_sum mulmx_sumr mulmx_suml summxE. Qed.

Lemma embedding_contains (P : program R V W) (x : 'rV[R]_d.+1) (z : R) :
  contains (read_embedding P) x z (embedded P x z).
Proof.
split=> r /=.
  have ->: moved (embed_x P) (fun=> x) r = moved (embed_x P) (fun=> x *m at_S 1) r.
    by apply: eq_moved => u; rewrite rmorph1 mulmx1.
  exact: (moved_linear [linear of mulmx x \o horner_mx S]).
transitivity (moved (embed_y P) (fun=> 1 * z + (x *m at_S 0 *m b) 0 0 : R^o) r).
  by apply: eq_moved => u; rewrite rmorph0 mulmx0 mul0mx mxE addr0 mul1r.
by rewrite (moved_contents _ (fun=> 1) (fun=> 0)) moved_zero.
Qed.

(* Let the formulas f describe the examples and a token before a layer. *)
Section Layer.

Variables (f : formulas R V W) (examples : 'I_n -> token R V W d.+1) (t : token R V W d.+1).
Variables (x : 'rV[R]_d.+1) (z : R).
Hypothesis examples_contain : forall i, contains f (row i X) (y i 0) (examples i).
Hypothesis token_contains : contains f x z t.

(* The score with example i is <K(S) x, x_i>: the p_r(S) are symmetric and commute. *)
Lemma score_is (h : head R V W) i :
  score h t (examples i) = inner (x *m at_S (kernel h f)) (row i X).
Proof.
rewrite /score /inner /kernel; elim: (scores h) => [|[[c r] s] scs IH].
  by rewrite !big_nil rmorph0 mulmx0 mul0mx mxE.
rewrite !big_cons IH rmorphD mulmxDr mulmxDl [RHS]mxE /=; congr (_ + _).
rewrite (proj1 token_contains) (proj1 (examples_contain i)) trmx_mul polynomial_symmetric.
by rewrite linearZ /= at_S_mul -scalemxAr -scalemxAl [RHS]mxE !mulmxA.
Qed.

(* A head adds p_r S K x to a vector register, for the value p_r(S) x. *)
Lemma vector_sum (h : head R V W) r :
  \sum_i score h t (examples i) *: moved (vectors h) (vec (examples i)) r =
  x *m at_S ('X * kernel h f * moved (vectors h) (p f) r).
Proof.
have value i : moved (vectors h) (vec (examples i)) r =
               row i (X *m at_S (moved (vectors h) (p f) r)).
  rewrite row_mul (eq_moved _ _ (proj1 (examples_contain i))).
  exact: (moved_linear [linear of mulmx (row i X) \o horner_mx S]).
rewrite (eq_bigr _ (fun i _ => congr2 *:%R (score_is h i) (value i))) weighted_rows.
by rewrite !at_S_mul horner_mx_X -(comm_horner_mx _ (comm_mx_refl S)) /S !mulmxA.
Qed.

(* A head adds x^T K (a_r + S g_r) b to a scalar register, for the value a_r y + x^T g_r(S) b. *)
Lemma scalar_sum (h : head R V W) r :
  \sum_i score h t (examples i) *: moved (scalars h) (sca (examples i)) r =
  (x *m at_S (kernel h f * moved (scalars h) (fun s => (a f s)%:P + 'X * g f s) r) *m b) 0 0.
Proof.
pose column := moved (scalars h) (a f) r *: y + X *m at_S (moved (scalars h) (g f) r) *m b.
have value i : moved (scalars h) (sca (examples i)) r = (row i column) 0 0.
  rewrite (eq_moved _ _ (proj2 (examples_contain i))) moved_contents.
  rewrite /column linearD linearZ /= !row_mul [RHS]mxE; congr (_ + _); by rewrite !mxE.
transitivity ((x *m at_S (kernel h f) *m X^T *m column) 0 0).
  rewrite -weighted_rows summxE; apply: eq_bigr => i _.
  by rewrite score_is value [RHS]mxE.
rewrite moved_labels -(mulmxA _ _ column) -(mulmxA x).
suff -> : X^T *m column =
    at_S ((moved (scalars h) (a f) r)%:P + 'X * moved (scalars h) (g f) r) *m b.
  by rewrite at_S_mul !mulmxA.
rewrite rmorphD /= at_S_mul horner_mx_X horner_mx_C mulmxDl mul_scalar_mx.
by rewrite /column mulmxDr -scalemxAr /S !mulmxA.
Qed.

(* So what is read from a layer describes the token after the layer. *)
Lemma layer_contains (l : layer R V W) :
  contains (read_layer f l) x z (after_layer l examples t).
Proof.
split=> r /=.
  rewrite !rmorphD !mulmxDr (proj1 token_contains) /=; congr (_ + _ + _).
    rewrite (eq_moved _ _ (proj1 token_contains)).
    exact: (moved_linear [linear of mulmx x \o horner_mx S]).
  rewrite rmorph_sum mulmx_sumr; apply: eq_bigr => h _; exact: vector_sum.
rewrite (eq_moved _ _ (proj2 token_contains)) moved_contents (proj2 token_contains).
rewrite !predictedD mulrDl predicted_sum [X in X + _ = _]addrACA -[LHS]addrA.
congr (_ + (_ + _)).
by apply: eq_bigr => h _; exact: scalar_sum.
Qed.

End Layer.

(* The theorem: after l layers, at every example and at any token with input x and label z. *)
Theorem reading_is_sound (P : program R V W) (l : nat) (x : 'rV[R]_d.+1) (z : R) :
  let f := read P l in
  let st := run P l X y x z in
  (forall i, contains f (row i X) (y i 0) (st.1 i)) /\ contains f x z st.2.
Proof.
rewrite /read /run /=; elim/last_ind: (take l _) => [|ls layer IH] /=.
  by split=> [i|]; exact: embedding_contains.
rewrite !foldl_rcons; case: IH => examples_contain token_contains.
by split=> [i|]; exact: layer_contains.
Qed.

(* The prediction at a query x is x^T g(S) b. *)
Theorem prediction_is_read (P : program R V W) (x : 'rV[R]_d.+1) :
  prediction P X y x = (x *m at_S (read_prediction P) *m b) 0 0.
Proof.
rewrite /prediction (eq_moved _ _ (proj2 (proj2 (reading_is_sound P _ x 0)))) moved_contents.
by rewrite mulr0 add0r.
Qed.

End Soundness.

(* Programs with the same polynomial have the same predictions, for all d, n, X, y and x. *)
Corollary equal_formulas (R : comRingType) (V W V' W' : eqType)
    (P : program R V W) (Q : program R V' W') :
  read_prediction P = read_prediction Q ->
  forall d n (X : 'M[R]_(n, d.+1)) y x, prediction P X y x = prediction Q X y x.
Proof. by move=> same d n X y x; rewrite !prediction_is_read same. Qed.

Print Assumptions reading_is_sound.
Print Assumptions prediction_is_read.
Print Assumptions equal_formulas.
