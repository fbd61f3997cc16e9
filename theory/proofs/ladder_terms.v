(* The terms of the ladders: slots of registers, and the heads that multiply them.  See
   constructions/regression/ladder_layers.py and Rung in constructions/regression/ladder.py.

   A slot belongs to a residual R, a polynomial in S = X^T X with S G = I - R.  It contains on every
   token u = G x, e = R x and s = y - x^T G b.  A layer writes to a slot a sum of terms

     Product c a b    c R_a^2 R_b             Unchanged c a    c R_a
     Once c a       - c S R_a                 Cubed c a      - c S R_a^3
     Squared c a b  - c S^2 R_a^2 R_b         Fourth c a b   c^2 S^4 R_a^2 R_b

   where the factors c of the first two kinds have the sum 1.  Then the slot contains u, e and s of
   the sum.  The terms of the last line read w = S R_a x and f = x^T R_a b (and w of b). *)

From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import linear_heads reading ring_identities.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Inductive slot := low | high.

(* The registers; w and f are those of the ladder from M_0 = alpha S. *)
Inductive vector := x | u of slot | e of slot | w of slot.
Inductive scalar := y | s of slot | f of slot.

Definition slot_code o : bool := if o is low then true else false.
Definition vector_code r : nat * bool :=
  match r with
  | x => (0%N, true)
  | u o => (1%N, slot_code o)
  | e o => (2%N, slot_code o)
  | w o => (3%N, slot_code o)
  end.
Definition scalar_code r : nat * bool :=
  match r with y => (0%N, true) | s o => (1%N, slot_code o) | f o => (2%N, slot_code o) end.
Lemma slot_code_inj : injective slot_code. Proof. by do 2!case. Qed.
Lemma vector_code_inj : injective vector_code.
Proof. by move=> [|o|o|o] [|o'|o'|o'] //= [] /slot_code_inj ->. Qed.
Lemma scalar_code_inj : injective scalar_code.
Proof. by move=> [|o|o] [|o'|o'] //= [] /slot_code_inj ->. Qed.
Canonical slot_eqType := Eval hnf in EqType slot (InjEqMixin slot_code_inj).
Canonical vector_eqType := Eval hnf in EqType vector (InjEqMixin vector_code_inj).
Canonical scalar_eqType := Eval hnf in EqType scalar (InjEqMixin scalar_code_inj).

(* Evaluates the sums of a layer that is given by its heads. *)
Ltac evaluate :=
  rewrite /= ?big_cons ?big_nil /kernel ?big_cons ?big_nil /= ?eqxx
    -?mul_polyC ?exprS ?expr0 ?polyCN ?polyCD ?polyCM ?polyC1 ?polyC0.

Section Layers.

Variable R : comRingType.

Notation layer := (layer R vector_eqType scalar_eqType).
Notation head := (head R vector_eqType scalar_eqType).
Notation formulas := (formulas R vector_eqType scalar_eqType).

Inductive term :=
  Product of R & slot & slot | Unchanged of R & slot | Once of R & slot | Cubed of R & slot
| Squared of R & slot & slot | Fourth of R & slot & slot.

(* The heads of a term that is written to the slot o, and its reads of the token itself. *)
Definition term_layer (o : slot) (t : term) : layer :=
  match t with
  | Product c a b => Layer
      [:: Head [:: (1, u a, x); (1, u b, x); (1, u b, e a)] [:: (- c, u a, u o)] [::];
          Head [:: (1, e b, e a); (1, e b, x)] [:: (- c, u a, e o)] [::];
          Head [:: (1, e b, u a)] [::] [:: (- c, s a, s o); (- c, y, s o)]]
      [:: (c + c, u a, u o); (c, u b, u o); (c, e b, e o)]
      [:: (c, s b, s o)]
  | Unchanged c a => Layer [::] [:: (c, u a, u o); (c, e a, e o)] [:: (c, s a, s o)]
  | Once c a => Layer [:: Head [:: (1, e a, x)] [:: (- c, x, e o)] [:: (- c, y, s o)]]
      [:: (c, e a, u o)] [::]
  | Cubed c a => Layer
      [:: Head [:: (1, e a, e a); (1, e a, x)] [:: (- c, u a, u o)] [::];
          Head [:: (1, e a, e a)] [:: (- c, e a, e o)] [:: (- c, s a, s o)]]
      [:: (c, e a, u o)] [::]
  | Squared c a b => Layer
      [:: Head [:: (1, e b, e a)] [:: (c, e a, u o); (- c, w a, e o)] [:: (- c, f a, s o)]]
      [::] [::]
  | Fourth c a b => Layer
      [:: Head [:: (c, e b, w a)] [:: (- c, w a, u o)] [::];
          Head [:: (c, w b, w a)] [:: (c, w a, e o)] [:: (c, f a, s o)]]
      [::] [::]
  end.

(* Layers side by side, and what removes the old content of a slot. *)
Definition beside (l m : layer) : layer :=
  Layer (heads l ++ heads m) (own_vectors l ++ own_vectors m) (own_scalars l ++ own_scalars m).

Definition clear (o : slot) : layer :=
  Layer [::] [:: (- 1, u o, u o); (- 1, e o, e o)] [:: (- 1, s o, s o)].

Definition rung (o : slot) (ts : seq term) : layer :=
  foldr beside (clear o) [seq term_layer o t | t <- ts].

(* What a layer adds to the registers. *)
Definition adds_p (l : layer) (F : formulas) r :=
  moved (own_vectors l) (p F) r + \sum_(h <- heads l) 'X * kernel h F * moved (vectors h) (p F) r.
Definition adds_a (l : layer) (F : formulas) r := moved (own_scalars l) (a F) r.
Definition adds_g (l : layer) (F : formulas) r :=
  moved (own_scalars l) (g F) r +
  \sum_(h <- heads l) kernel h F * moved (scalars h) (fun s => (a F s)%:P + 'X * g F s) r.

Lemma moved_cat (A : Type) (B : eqType) (M : lmodType R) (ms ns : moves R A B) (from : A -> M) r :
  moved (ms ++ ns) from r = moved ms from r + moved ns from r.
Proof. by elim: ms => [|[[c q] o] ms IH] /=; rewrite ?add0r // IH addrA. Qed.

Lemma adds_p_beside l m F r : adds_p (beside l m) F r = adds_p l F r + adds_p m F r.
Proof. by rewrite /adds_p moved_cat big_cat /= addrACA. Qed.
Lemma adds_a_beside l m F r : adds_a (beside l m) F r = adds_a l F r + adds_a m F r.
Proof. by rewrite /adds_a moved_cat. Qed.
Lemma adds_g_beside l m F r : adds_g (beside l m) F r = adds_g l F r + adds_g m F r.
Proof. by rewrite /adds_g moved_cat big_cat /= addrACA. Qed.

(* A slot contains u = G x, e = R x and s = y - x^T G b with t G = 1 - R. *)
Definition contains_residual (F : formulas) (o : slot) :=
  [/\ 'X * p F (u o) = 1 - p F (e o), a F (s o) = 1 & g F (s o) = - p F (u o)].

Definition contains_image (F : formulas) (o : slot) :=
  [/\ p F (w o) = 'X * p F (e o), a F (f o) = 0 & g F (f o) = p F (e o)].

Definition contains_inputs (F : formulas) := [/\ p F x = 1, a F y = 1 & g F y = 0].

(* The residual of a term, and its part of the sum of the factors. *)
Definition residual (F : formulas) (t : term) : {poly R} :=
  match t with
  | Product c a b => c *: (p F (e a) ^+ 2 * p F (e b))
  | Unchanged c a => c *: p F (e a)
  | Once c a => - (c *: ('X * p F (e a)))
  | Cubed c a => - (c *: ('X * p F (e a) ^+ 3))
  | Squared c a b => - (c *: ('X ^+ 2 * p F (e a) ^+ 2 * p F (e b)))
  | Fourth c a b => c ^+ 2 *: ('X ^+ 4 * p F (e a) ^+ 2 * p F (e b))
  end.

Definition factor (t : term) : R :=
  match t with Product c _ _ => c | Unchanged c _ => c | _ => 0 end.

(* The slots that a term reads, and those of which it reads w and f. *)
Definition slots_of (t : term) : seq slot :=
  match t with
  | Product _ a b | Squared _ a b | Fourth _ a b => [:: a; b]
  | Unchanged _ a | Once _ a | Cubed _ a => [:: a]
  end.

Definition images_of (t : term) : seq slot :=
  match t with Squared _ a _ => [:: a] | Fourth _ a b => [:: a; b] | _ => [::] end.

Definition contains_slots (F : formulas) (slots images : seq slot) :=
  (forall a, a \in slots -> contains_residual F a) /\
  (forall a, a \in images -> contains_image F a).

Section Term.

Variables (F : formulas) (t : term).
Hypothesis inputs : contains_inputs F.
Hypothesis sources : contains_slots F (slots_of t) (images_of t).

Let P := poly_comRingType R.
Add Ring poly_ring : (commutative_ring P).

(* e: sum_i u_(a,i) <e_(a,i) + x_i, e_b> = (1 - R_a)(R_a + 1) R_b x, subtracted from R_b x. *)
Lemma term_e o : adds_p (term_layer o t) F (e o) = residual F t.
Proof.
case: inputs => px _ _; rewrite /adds_p.
case: t sources => [c a b|c a|c a|c a|c a b|c a b] [contain images]; evaluate; rewrite ?px;
  try by in_ring P; ring.
- case: (contain a); rewrite ?inE ?eqxx // => ua _ _.
  by move: ua; in_ring P => ua; ring [ua].
- case: (images a); rewrite ?inE ?eqxx // => -> _ _.
  by in_ring P; ring.
case: (images a); rewrite ?inE ?eqxx // => -> _ _.
case: (images b); rewrite ?inE ?eqxx ?orbT // => -> _ _.
by in_ring P; ring.
Qed.

(* u: t times what is added is the factor minus the residual. *)
Lemma term_u o : 'X * adds_p (term_layer o t) F (u o) = (factor t)%:P - residual F t.
Proof.
case: inputs => px _ _; rewrite /adds_p.
case: t sources => [c a b|c a|c a|c a|c a b|c a b] [contain images]; evaluate; rewrite ?px.
all: case: (contain a); rewrite ?inE ?eqxx // => ua _ _.
- case: (contain b); rewrite ?inE ?eqxx ?orbT // => ub _ _.
  by move: ua ub; in_ring P => ua ub; ring [ua ub].
5: case: (images a); rewrite ?inE ?eqxx // => -> _ _.
all: by move: ua; rewrite ?polyC0; in_ring P => ua; ring [ua].
Qed.

Lemma term_s o : adds_a (term_layer o t) F (s o) = factor t.
Proof.
rewrite /adds_a.
case: t sources => [c a b|c a|c a|c a|c a b|c a b] [contain _]; rewrite /= ?eqxx ?addr0 //.
- case: (contain b); rewrite ?inE ?eqxx ?orbT // => _ sb _.
  by rewrite sb; exact: mulr1.
case: (contain a); rewrite ?inE ?eqxx // => _ sa _.
by rewrite sa; exact: mulr1.
Qed.

(* s: the same polynomial as u, with the opposite sign. *)
Lemma term_g o : adds_g (term_layer o t) F (s o) = - adds_p (term_layer o t) F (u o).
Proof.
case: inputs => px ay gy; rewrite /adds_p /adds_g.
case: t sources => [c a b|c a|c a|c a|c a b|c a b] [contain images]; evaluate;
  rewrite ?px ?ay ?gy.
all: case: (contain a); rewrite ?inE ?eqxx // => ua sa ga; rewrite ?sa ?ga.
- case: (contain b); rewrite ?inE ?eqxx ?orbT // => ub _ ->.
  have both : p F (e a) * p F (u b) = p F (u b) - p F (u a) + p F (e b) * p F (u a).
    apply: subr0_eq.
    transitivity (p F (u a) * ('X * p F (u b)) - p F (u b) * ('X * p F (u a))).
      by rewrite ua ub; in_ring P; ring.
    by in_ring P; ring.
  by move: ua ub both; evaluate; in_ring P => ua ub both; ring [ua ub both].
4,5: case: (images a); rewrite ?inE ?eqxx // => wa fa gfa; rewrite ?wa ?fa ?gfa.
5: case: (images b); rewrite ?inE ?eqxx ?orbT // => -> _ _.
all: by move: ua; evaluate; in_ring P => ua; ring [ua].
Qed.

End Term.

(* A layer of the slot o changes the registers u, e and s of o alone. *)
Lemma term_others o t F r : r != u o -> r != e o -> adds_p (term_layer o t) F r = 0.
Proof.
rewrite /adds_p; case: o; case: r => [|[]|[]|[]] // _ _;
by case: t => *; rewrite /= ?big_cons ?big_nil /= ?addr0 ?mulr0 ?addr0.
Qed.

Lemma term_other_scalars o t F r :
  r != s o -> adds_a (term_layer o t) F r = 0 /\ adds_g (term_layer o t) F r = 0.
Proof.
rewrite /adds_a /adds_g; case: o; case: r => [|[]|[]] // _;
by case: t => *; rewrite /= ?big_cons ?big_nil /= ?addr0 ?mulr0 ?addr0.
Qed.

End Layers.

Arguments clear {R} o.
