(* Programs of linear heads: transformers with linear attention that act on whole registers.

   A prompt has examples, the rows x_i of X (n x d) with labels y_i, and a query.  Tokens are rows.
   A token with input x and label y has *vector registers* of width d and *scalar registers* of
   width 1; a query has label 0.  All numbers are in a commutative ring R.

   - The embedding writes multiples of x to vector registers and multiples of y to scalar ones.
   - A head attends to the examples.  The score between a token and example i is the sum of
     c <r, s>, with register r of the token (the query) and register s of the example (the key), so
     W_Q W_K^T has blocks c I.  Its values are multiples of registers of the example, which are
     added to registers of the same kind, so W_V W_O has blocks c I and c.
   - A layer adds the outputs of its heads, and multiples of the token's own registers (a head with
     a diagonal mask, or ReLUs in pairs). *)

From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* A linear map between registers, as a list of (c, r, s): c times r is added to s. *)
Section Moves.

Variables (R : ringType) (A : Type) (B : eqType).

Definition moves := seq (R * A * B).

Fixpoint moved (M : lmodType R) (ms : moves) (from : A -> M) (into : B) : M :=
  if ms is (c, r, s) :: rest then
    (if s == into then c *: from r else 0) + moved rest from into
  else 0.

(* A linear map f between the contents of registers commutes with moves. *)
Lemma moved_linear (M N : lmodType R) (f : {linear M -> N}) ms from into :
  moved ms (fun r => f (from r)) into = f (moved ms from into).
Proof.
elim: ms => [|[[c r] s] ms IH] /=; first by rewrite linear0.
by rewrite linearD IH; case: eqP; rewrite ?linearZ ?linear0.
Qed.

Lemma eq_moved (M : lmodType R) ms (from from' : A -> M) into :
  from =1 from' -> moved ms from into = moved ms from' into.
Proof. by move=> same; elim: ms => //= -[[c r] s] ms ->; rewrite same. Qed.

Lemma movedD (M : lmodType R) ms (from from' : A -> M) into :
  moved ms (fun r => from r + from' r) into = moved ms from into + moved ms from' into.
Proof.
elim: ms => [|[[c r] s] ms IH] /=; first by rewrite addr0.
by rewrite IH addrACA; case: eqP; rewrite ?scalerDr ?addr0.
Qed.

Lemma moved_zero (M : lmodType R) ms into : moved ms (fun=> 0 : M) into = 0.
Proof. by elim: ms => //= -[[c r] s] ms ->; rewrite scaler0 if_same addr0. Qed.

End Moves.

Section LinearHeads.

Variables (R : comRingType) (V W : eqType).  (* the names of the vector and scalar registers *)

Record head := Head {
  scores : seq (R * V * V);   (* (c, query register, key register) *)
  vectors : moves R V V;      (* values of vector registers *)
  scalars : moves R W W       (* values of scalar registers *)
}.

Record layer := Layer {
  heads : seq head;
  own_vectors : moves R V V;  (* of the token itself *)
  own_scalars : moves R W W
}.

Record program := Program {
  embed_x : moves R unit V;   (* (c, tt, r): c x is written to r *)
  embed_y : moves R unit W;
  layers : seq layer;
  answer : moves R W unit_eqType     (* the unembedding: (c, r, tt) *)
}.

(* The contents of the registers of one token. *)
Record token d := Token { vec : V -> 'rV[R]_d; sca : W -> R^o }.

Definition inner d (q k : 'rV[R]_d) : R := (q *m k^T) 0 0.

Definition score d (h : head) (query key : token d) : R :=
  \sum_(t <- scores h) t.1.1 * inner (vec query t.1.2) (vec key t.2).

(* What the stream contains after a layer, at a token, from the examples and the token before it. *)
Definition after_layer d n (l : layer) (examples : 'I_n -> token d) (t : token d) : token d :=
  Token
    (fun r => vec t r + moved (own_vectors l) (vec t) r +
      \sum_(h <- heads l) \sum_i score h t (examples i) *: moved (vectors h) (vec (examples i)) r)
    (fun r => sca t r + moved (own_scalars l) (sca t) r +
      \sum_(h <- heads l) \sum_i score h t (examples i) *: moved (scalars h) (sca (examples i)) r).

Definition embedded d (P : program) (x : 'rV[R]_d) (y : R) : token d :=
  Token (moved (embed_x P) (fun=> x)) (moved (embed_y P) (fun=> y : R^o)).

(* The stream: a token for each example, and one more token, which no token attends to. *)
Definition stream d n := (('I_n -> token d) * token d)%type.

Definition step d n (st : stream d n) (l : layer) : stream d n :=
  (fun i => after_layer l st.1 (st.1 i), after_layer l st.1 st.2).

(* The run of the first l layers on examples X, y and a token (x, y0). *)
Definition run d n (P : program) (l : nat) (X : 'M[R]_(n, d)) (y : 'cV[R]_n)
    (x : 'rV[R]_d) (y0 : R) : stream d n :=
  foldl (@step d n) (fun i => embedded P (row i X) (y i 0), embedded P x y0) (take l (layers P)).

(* The prediction at a query x, whose label is 0. *)
Definition prediction d n (P : program) (X : 'M[R]_(n, d)) (y : 'cV[R]_n) (x : 'rV[R]_d) : R :=
  moved (answer P) (sca (run P (size (layers P)) X y x 0).2) tt.

End LinearHeads.
