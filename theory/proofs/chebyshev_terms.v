(* The terms of Chebyshev's method in the ladder.  See constructions/regression/chebyshev.py.

   Here l = sigma (1 - alpha S), tau_n = T_n(sigma), and R_n = T_n(l)/tau_n.  The formulas that
   triple the degree of T_n become terms of the ladder (ladder_terms.v), whose factors have the sum
   1.

   Let q = floor((n + 1)/3).  The degrees n - 1 and n are among 3q - 2, ..., 3q + 1, which are
   computed from q - 1 and q.  If n = 3q alone is wanted, q alone is used, and the degrees 0 and 1
   are computed from 0. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import Lia.
From weightwright Require Import linear_heads reading ring_identities ladder_terms ladder_layers.
From weightwright Require Import ladder chebyshev.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* The factors of the terms of degree 3q + 1, and of 3q - 1 or 3q - 2, have the sum 1.  The last
   ones of 3q, 3q + 1 and 3q - 1 or 3q - 2 follow from tau_n i = 1. *)
Section Factors.
Variables (R : comRingType) (c m o : R).
Add Ring factor_ring : (commutative_ring R).

Lemma four_factors : c + (- m + (1 - c + m - o + o)) = 1.
Proof. by in_ring R; ring. Qed.

Lemma three_factors : c + (1 - c + o - o) = 1.
Proof. by in_ring R; ring. Qed.

Variables (i s t u e : R).  (* e = 1 *)
Ltac by_ring := move=> <-; rewrite ?numerals ?exprS ?expr0; in_ring R; ring.

Lemma left_3q : (4%:R * t ^+ 3 - 3%:R * t) * i = e -> e - 4%:R * t ^+ 3 * i = - (3%:R * t * i).
Proof. by by_ring. Qed.

Lemma left_3q_plus_1 :
  (8%:R * s * t ^+ 3 - 4%:R * t ^+ 2 * u - 4%:R * s * t + u) * i = e ->
  e - 8%:R * s * t ^+ 3 * i + 4%:R * t ^+ 2 * u * i - u * i = - (4%:R * s * t * i).
Proof. by by_ring. Qed.

Lemma left_less : (4%:R * t ^+ 2 * u - 2%:R * s * t - u) * i = e ->
  e - 4%:R * t ^+ 2 * u * i + u * i = - (2%:R * s * t * i).
Proof. by by_ring. Qed.

End Factors.

Section Method.
Variables (R : comRingType) (alpha sigma : R).
Let P := poly_comRingType R.
Add Ring poly_ring : (commutative_ring P).
Local Notation tau := (T sigma).
Variable inv_tau : nat -> R.
Hypothesis one_is : forall n, tau n * inv_tau n = 1.

(* l, and the residual of degree n. *)
Definition scaled : {poly R} := sigma *: (1 - alpha *: 'X).
Definition chebyshev_residual (n : nat) : {poly R} := inv_tau n *: T scaled n.
Local Notation Res := chebyshev_residual.

(* The levels: degrees m, or m and m + 1.  q is the largest degree below. *)
Definition largest_below (t : level) : nat := ((top t).+1 %/ 3)%N.
Definition chebyshev_below (t : level) : level :=
  let q := largest_below t in
  if (q == 0)%N || (~~ t.2 && (top t == 3 * q)%N) then (q, false) else (q.-1, true).

(* The terms of degree n, from the level below. *)
Definition chebyshev_terms (below : level) (n : nat) : seq (term R) :=
  let q := top below in
  let i := inv_tau n in
  if q == 0%N then Unchanged 1 low :: (if n is 0%N then [::] else [:: Once alpha low])
  else if ~~ below.2 then
    let c := 4%:R * tau q ^+ 3 * i in [:: Product c low low; Unchanged (1 - c) low]
  else if n == q then [:: Unchanged 1 high]
  else if n == (3 * q)%N then
    let c := 4%:R * tau q ^+ 3 * i in [:: Product c high high; Unchanged (1 - c) high]
  else if n == (3 * q).+1 then
    let cubed := 8%:R * sigma * tau q ^+ 3 * i in
    let mixed := 4%:R * tau q ^+ 2 * tau q.-1 * i in
    let other := tau q.-1 * i in
    let left := 1 - cubed + mixed - other in
    [:: Product cubed high high; Product (- mixed) high low; Unchanged left high;
        Unchanged other low; Once (alpha * left) high; Cubed (alpha * cubed) high]
  else
    let: (twice, single, a, b) :=
      if n == (3 * q).-1 then (high, low, q, q.-1) else (low, high, q.-1, q) in
    let c := 4%:R * tau a ^+ 2 * tau b * i in
    let other := tau b * i in
    let left := 1 - c + other in
    [:: Product c twice single; Unchanged left twice; Unchanged (- other) single;
        Once (alpha * left) twice].

(* The invariant: the registers contain the residuals of a level. *)
Definition contains_degrees (f : formulas R vector_eqType scalar_eqType) (t : level) :=
  [/\ contains_inputs f, contains_residual f low, p f (e low) = Res t.1 &
      t.2 -> contains_residual f high /\ p f (e high) = Res t.1.+1].

Lemma chebyshev_terms_factors (t : level) n : \sum_(c <- chebyshev_terms t n) factor c = 1.
Proof.
rewrite /chebyshev_terms.
case: ifP => _; first by case: n => [|n]; rewrite !big_cons big_nil /= !addr0.
case: ifP => _; first by rewrite !big_cons big_nil /= addr0 addrC subrK.
case: ifP => _; first by rewrite big_seq1.
case: ifP => _; first by rewrite !big_cons big_nil /= addr0 addrC subrK.
case: ifP => _; first by rewrite !big_cons big_nil /= !addr0 four_factors.
by case: ifP => _; rewrite !big_cons big_nil /= !addr0 three_factors.
Qed.

Lemma chebyshev_terms_sources f (t : level) n :
  contains_degrees f t -> contains_sources f (chebyshev_terms t n).
Proof.
case=> _ at_low _ at_high; split; last first.
  by rewrite /chebyshev_terms; repeat (case: ifP => _); case: n.
move=> a; rewrite /chebyshev_terms.
case: ifP => _; first by case: n => [|n]; rewrite !inE; do ?[case/orP]; move/eqP ->.
case: t at_high => m [] /= at_high; last by rewrite !inE; do ?[case/orP]; move/eqP ->.
have [high_1 _] := at_high isT.
by repeat (case: ifP => _); rewrite !inE; do ?[case/orP]; move/eqP ->.
Qed.

(* The residual of degree n is the sum of its terms. *)
Ltac as_constants :=
  rewrite -?mul_polyC ?(polyCM, polyCN, polyCD, polyC1, polyCMn, polyC_exp) ?numerals ?exprS ?expr0.

Let T_is q : T scaled q = tau q *: Res q.
Proof. by rewrite /chebyshev_residual scalerA one_is scale1r. Qed.

Let residual_3q q :
  let i := inv_tau (3 * q) in let c := 4%:R * tau q ^+ 3 * i in
  c *: (Res q ^+ 2 * Res q) + (1 - c) *: Res q = Res (3 * q).
Proof.
rewrite /= [RHS]/chebyshev_residual (T_3q scaled) T_is.
have := one_is (3 * q); rewrite {1}T_3q => /left_3q ->.
by as_constants; in_ring P; ring.
Qed.

Let residual_3q_plus_1 p :
  let i := inv_tau (3 * p + 4) in
  let c := 8%:R * sigma * tau p.+1 ^+ 3 * i in
  let m := 4%:R * tau p.+1 ^+ 2 * tau p * i in
  let o := tau p * i in
  let left := 1 - c + m - o in
  c *: (Res p.+1 ^+ 2 * Res p.+1) + (- m *: (Res p.+1 ^+ 2 * Res p) + (left *: Res p.+1 +
    (o *: Res p + (- ((alpha * left) *: ('X * Res p.+1)) -
    (alpha * c) *: ('X * Res p.+1 ^+ 3))))) = Res (3 * p + 4).
Proof.
rewrite /= [RHS]/chebyshev_residual (T_3q_plus_1 scaled) !T_is.
have := one_is (3 * p + 4); rewrite {1}T_3q_plus_1 => /left_3q_plus_1 ->.
by rewrite /scaled; as_constants; in_ring P; ring.
Qed.

(* twice is b = p + 1 for 3q - 1, and p for 3q - 2. *)
Let residual_less n a b :
  (forall (A : comRingType) (x : A),
    T x n = 4%:R * T x a ^+ 2 * T x b - 2%:R * x * T x a - T x b) ->
  let i := inv_tau n in
  let c := 4%:R * tau a ^+ 2 * tau b * i in
  let o := tau b * i in
  let left := 1 - c + o in
  c *: (Res a ^+ 2 * Res b) + (left *: Res a + (- o *: Res b -
    (alpha * left) *: ('X * Res a))) = Res n.
Proof.
move=> formula; rewrite /= [RHS]/chebyshev_residual (formula _ scaled) !T_is.
have := one_is n; rewrite {1}formula => /left_less ->.
by rewrite /scaled; as_constants; in_ring P; ring.
Qed.

(* The three kinds of levels below a degree n that is wanted. *)
Variant below_spec (n : nat) : level -> Prop :=
  | Zero of (n <= 1)%N : below_spec n (0%N, false)
  | Alone q of (0 < q)%N & n = (3 * q)%N : below_spec n (q, false)
  | Pair p of (3 * p < n <= 3 * p + 4)%N : below_spec n (p, true).

Lemma below_cases (t : level) n : n = t.1 \/ t.2 /\ n = t.1.+1 -> below_spec n (chebyshev_below t).
Proof.
rewrite /chebyshev_below /largest_below; case: t => m two; rewrite /top /=.
move: (divn_eq (m + two).+1 3) (@ltn_pmod (m + two).+1 3 isT).
move: (_ %/ 3)%N (_ %% 3)%N => q r q_r r_lt which.
have [q0|q0] := posnP q.
  rewrite q0 /=; apply: Zero; move: q_r r_lt; rewrite q0 mul0n add0n => <-.
  by case: which => [->|[-> ->]]; rewrite ?addn1 !ltnS //; apply: leq_trans; apply: leq_addr.
have [/andP[one /eqP n_3q]|pair] := boolP (~~ two && (m + two == 3 * q)%N).
  by apply: Alone => //; case: two q_r one n_3q which => //= _ _; rewrite addn0 => -> [->|[]].
rewrite /=; apply: Pair; move: q_r which pair; rewrite -(prednK q0); move: q.-1 => p /=.
move/ltP: r_lt; case: two => /= r_lt q_r which _; apply/andP; split; apply/leP; move: q_r r_lt;
  by case: which => [->|[// _ ->]]; rewrite -!plusE -!multE; lia.
Qed.

Lemma chebyshev_terms_residual f (t : level) n : n = t.1 \/ t.2 /\ n = t.1.+1 ->
  contains_degrees f (chebyshev_below t) ->
  residual_of f (chebyshev_terms (chebyshev_below t) n) = Res n.
Proof.
have Res0 : Res 0 = 1 by rewrite /chebyshev_residual -[inv_tau 0]mul1r (one_is 0) scale1r.
have Res1 : Res 1 = 1 - alpha *: 'X.
  by rewrite /chebyshev_residual T1 /scaled scalerA mulrC (one_is 1) scale1r.
move=> /below_cases; rewrite /residual_of /chebyshev_terms.
case=> [n_le|q q0 ->|p /andP[n_gt n_le]] [_ _ at_low at_high].
- case: n n_le => [|[|n]] // _; rewrite !big_cons big_nil /= at_low addr0 scale1r //.
  by rewrite Res0 Res1 mulr1.
- by rewrite /top addn0 (gtn_eqF q0) /= !big_cons big_nil /= at_low addr0 residual_3q.
have [_ {}at_high] := at_high isT; rewrite /top addn1.
move three_q : (3 * p.+1)%N => q3 /=; rewrite mulnS in three_q.
case: eqP => [->|_]; first by rewrite big_seq1 /= at_high scale1r.
case: eqP => [->|ne_3q].
  by rewrite -three_q -mulnS !big_cons big_nil /= at_high addr0 residual_3q.
case: eqP => [->|ne_3q_plus_1].
  rewrite (_ : q3.+1 = 3 * p + 4)%N; last by rewrite -three_q addnC !addnS.
  by rewrite !big_cons big_nil /= at_low at_high addr0 residual_3q_plus_1.
case: eqP => [n_is|ne_3q_minus_1]; rewrite !big_cons big_nil /= at_low at_high addr0.
  by apply: residual_less => A x; rewrite -T_3q_minus_1 n_is -three_q addSn addnC.
apply: residual_less => A x; rewrite -T_3q_minus_2; congr (T x _).
move/leP: n_gt; move/leP: n_le; move: three_q ne_3q ne_3q_plus_1 ne_3q_minus_1.
by rewrite -!plusE -!multE; lia.
Qed.

End Method.
