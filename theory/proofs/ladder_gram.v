(* The ladder from M_0 = alpha S: the power N of a residual in ceil(log_3(4N + 1)) layers, for all
   d, n, N, X, y and x.  See constructions/regression/ladder_gram.py.

   Write E = I - alpha S^2.  Tokens store one of three levels:

     Alone n   u, e and s of exponent n                              degree 4n + 1
     Image n   also w = S E^n x and f = x^T E^n b                    degree 4n + 3
     Pair n    u, e and s of exponents n and n + 1                   degree 4n + 5

   Let n = 3q + r.  A level of n is computed from one of q, the level below:

              r = 0     r = 1     r = 2
     Alone    Alone     Image     Image
     Image    Alone     Image     Pair
     Pair     Image     Image     Pair

   In each of the nine cases the degree D of the level below is the least odd number with
   3D >= (the degree of the level).  Powers of 3 are odd, so if a level has degree at most 3^(L+1),
   the level below has degree at most 3^L.  A level of degree 1 is Alone 0, which the embedding
   writes.  So L layers compute every level of degree at most 3^L. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import Lia.
From weightwright Require Import linear_heads reading ring_identities ladder_terms ladder_layers.
From weightwright Require Import ladder_images hyperpower ladder.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Inductive kind := Alone | Image | Pair.
Definition gram_level := (nat * kind)%type.

Definition degree (t : gram_level) : nat :=
  4 * t.1 + match t.2 with Alone => 1 | Image => 3 | Pair => 5 end.

Definition gram_below (t : gram_level) : gram_level :=
  ((t.1 %/ 3)%N,
   match t.2, (t.1 %% 3)%N with
   | Alone, 0 | Image, 0 => Alone
   | Image, 2 | Pair, 2 => Pair
   | _, _ => Image
   end).

Lemma below_degree t L : (degree t <= 3 ^ L.+1 -> degree (gram_below t) <= 3 ^ L)%N.
Proof.
have odd_power : odd (3 ^ L) by rewrite oddX orbT.
case: t => n k; rewrite /degree /gram_below /= {1}(divn_eq n 3) expnS -(odd_double_half (3 ^ L)).
rewrite odd_power -muln2; move: (n %/ 3)%N (n %% 3)%N (@ltn_pmod n 3 isT) (3 ^ L)./2 => q r r_lt h.
move=> /leP at_most; apply/leP; move: at_most; rewrite -!multE -!plusE.
by case: k; case: r r_lt => [|[|[|r]]] // _ /=; lia.
Qed.

Section GramPowers.

Variables (R : comRingType) (alpha : R).

Let P := poly_comRingType R.
Add Ring poly_ring : (commutative_ring P).

Notation layer := (layer R vector_eqType scalar_eqType).
Notation formulas := (formulas R vector_eqType scalar_eqType).
Notation E2 := (E2 alpha).

(* The terms of exponent 3q + m, from the level below, of exponent q. *)
Definition gram_terms (below : kind) (m : nat) : seq (term R) :=
  match below, m with
  | Pair, 3 => [:: Product 1 high high]
  | Pair, _ => [:: Product 1 high low]
  | _, 0 => [:: Product 1 low low]
  | _, 1 => [:: Product 1 low low; Squared alpha low low]
  | _, _ => [:: Product 1 low low; Squared (alpha + alpha) low low; Fourth alpha low low]
  end.

Definition gram_layer (t : gram_level) : layer :=
  let m := (t.1 %% 3)%N in
  let k := (gram_below t).2 in
  match t.2 with
  | Alone => ladder_layer (gram_terms k m) None
  | Image => beside (ladder_layer (gram_terms k m) None)
                    (image_layer alpha (if k is Pair then high else low) low (m == 1%N))
  | Pair => ladder_layer (gram_terms k m) (Some (gram_terms k m.+1))
  end.

(* The layer invariant. *)
Definition contains_gram_level (F : formulas) (t : gram_level) :=
  [/\ contains_inputs F, contains_residual F low, p F (e low) = E2 ^+ t.1,
      t.2 = Image -> contains_image F low &
      t.2 = Pair -> contains_residual F high /\ p F (e high) = E2 ^+ t.1.+1].

(* Which exponents a level gives: all m that occur in the table above. *)
Definition gives (k : kind) (m : nat) : bool :=
  match k with Alone => m == 0%N | Image => m <= 2 | Pair => (2 <= m <= 3) end%N.

Lemma gram_terms_factors k m : \sum_(c <- gram_terms k m) factor c = 1.
Proof. by case: k; case: m => [|[|[|[|m]]]]; rewrite !big_cons big_nil /= ?addr0. Qed.

Lemma gram_terms_sources F t m :
  contains_gram_level F t -> gives t.2 m -> contains_sources F (gram_terms t.2 m).
Proof.
case: t => q k [/= _ at_low _ image pair] given; split=> a.
  by case: k m given image pair => [] [|[|[|[|m]]]] //= _ _ pair; rewrite !inE; do ?[case/orP];
    move/eqP ->; rewrite //; case: (pair erefl).
by case: k m given image pair => [] [|[|[|[|m]]]] //= _ image _; rewrite !inE; do ?[case/orP];
  move/eqP ->; exact: image.
Qed.

(* E^(3q), E^(3q) (1 - alpha S^2) and E^(3q) (1 - 2 alpha S^2 + alpha^2 S^4); E^(2a + b). *)
Lemma gram_terms_residual F t m :
  contains_gram_level F t -> gives t.2 m ->
  residual_of F (gram_terms t.2 m) = E2 ^+ (3 * t.1 + m)%N.
Proof.
case: t => q k [/= _ _ at_low _ pair] given; rewrite /residual_of.
have cube : E2 ^+ (3 * q) = (E2 ^+ q) ^+ 2 * E2 ^+ q.
  by rewrite -exprM -exprD; congr (_ ^+ _); rewrite -!multE -!plusE; lia.
rewrite exprD {}cube; case: k m given pair => [] [|[|[|[|m]]]] // _ pair;
  rewrite !big_cons big_nil /= ?at_low; try case: (pair erefl) => _; try move=> ->.
all: rewrite /E2 ?exprSr; move: (_ ^+ q) => z.
all: by rewrite -!mul_polyC ?exprS ?expr0 ?polyCD ?polyCM ?polyC1; in_ring P; ring.
Qed.

Lemma gram_layer_contains F t :
  contains_gram_level F (gram_below t) -> contains_gram_level (read_layer F (gram_layer t)) t.
Proof.
move=> below; have [inputs at_low low_is image pair] := below.
pose q := (gram_below t).1; pose k := (gram_below t).2; pose m := (t.1 %% 3)%N.
have exponent : t.1 = (3 * q + m)%N by rewrite /q /m /gram_below /= mulnC -divn_eq.
have given : gives k m.
  rewrite /k /m /gram_below; case: t.2; move: (@ltn_pmod t.1 3 isT);
    by case: (_ %% 3)%N => [|[|[|]]].
have given_next : t.2 = Pair -> gives k m.+1.
  by rewrite /k /m /gram_below => ->; move: (@ltn_pmod t.1 3 isT); case: (_ %% 3)%N => [|[|[|]]].
have sources i : gives k i -> contains_sources F (gram_terms k i) by exact: gram_terms_sources.
have residual i : gives k i -> residual_of F (gram_terms k i) = E2 ^+ (3 * q + i)%N.
  exact: gram_terms_residual.
have factors := gram_terms_factors k.
rewrite /gram_layer -/k -/m /contains_gram_level exponent.
case kind_is: t.2 => [||].
- have [at_low' low_is'] := layer_low None inputs (sources m given) (factors m).
  by split=> //; [exact: layer_inputs | rewrite low_is' residual].
- have cube : E2 ^+ (3 * q) = (E2 ^+ q) ^+ 2 * E2 ^+ q.
    by rewrite -exprM -exprD; congr (_ ^+ _); rewrite -!multE -!plusE; lia.
  set F' := read_layer _ _.
  suff [inputs' at_low' low_is' image'] : [/\ contains_inputs F', contains_residual F' low,
      p F' (e low) = residual_of F (gram_terms k m) & contains_image F' low].
    by split=> //; rewrite low_is' residual.
  have [[k_is m_is]|[k_is m_is]|[k_is m_is]] :
      [\/ k = Alone /\ m = 0%N, k = Image /\ m = 1%N | k = Pair /\ m = 2%N].
    rewrite /k /m /gram_below kind_is; move: (@ltn_pmod t.1 3 isT).
    by case: (_ %% 3)%N => [|[|[|]]] // _; [constructor 1 | constructor 2 | constructor 3].
  + have := @with_image_contains _ alpha F _ low low false inputs (sources m given) (factors m)
      at_low.
    rewrite residual // /F' k_is m_is; apply=> //.
    by rewrite addn0 low_is -/q cube mulr1.
  + have := @with_image_contains _ alpha F _ low low true inputs (sources m given) (factors m)
      at_low.
    rewrite residual // /F' k_is m_is; apply=> [_|]; first exact: image.
    by rewrite exprD expr1 low_is -/q cube.
  have [at_high high_is] := pair k_is.
  have := @with_image_contains _ alpha F _ high low false inputs (sources m given) (factors m)
      at_high.
  rewrite residual // /F' k_is m_is; apply=> //.
  by rewrite exprD low_is high_is -/q cube [E2 ^+ q.+1]exprSr !expr2 mulr1; in_ring P; ring.
have next := given_next kind_is.
have [at_low' low_is'] := layer_low (Some (gram_terms k m.+1)) inputs (sources m given) (factors m).
have [at_high' high_is'] := layer_high (gram_terms k m) inputs (sources m.+1 next) (factors m.+1).
split=> //; first exact: layer_inputs.
  by rewrite low_is' residual.
by move=> _; split=> //; rewrite high_is' residual // addnS.
Qed.

(* The plan: the layers from the last one downwards. *)
Fixpoint gram_powers (L : nat) (t : gram_level) : seq layer :=
  if L is K.+1 then rcons (gram_powers K (gram_below t)) (gram_layer t) else [::].

Lemma gram_powers_compute L t :
  (degree t <= 3 ^ L)%N -> contains_gram_level (after_layers (gram_powers L t)) t.
Proof.
elim: L t => [|L IH] t small; last first.
  rewrite /after_layers /= -cats1 foldl_cat /= -/(after_layers _).
  by apply: gram_layer_contains; apply: IH; exact: below_degree.
case: t small => [[|n] [||]] //; rewrite /degree /= ?mulnS // => _.
by have [inputs at_low e_1] := @ladder_begins R; split.
Qed.

(* The number of layers is exact. *)
Definition gram_ladder (N : nat) : program R vector_eqType scalar_eqType :=
  ladder (gram_powers (up_log 3 (4 * N).+1) (N, Alone)).

Theorem gram_ladder_layers N : size (layers (gram_ladder N)) = up_log 3 (4 * N).+1.
Proof.
rewrite /gram_ladder number_of_layers; move: (up_log _ _) (N, Alone) => L t.
by elim: L t => //= L IH t; rewrite size_rcons IH.
Qed.

Lemma gram_ladder_formula N : 'X * read_prediction (gram_ladder N) = 1 - E2 ^+ N.
Proof.
rewrite /gram_ladder ladder_prediction.
have small : (degree (N, Alone) <= 3 ^ up_log 3 (4 * N).+1)%N by rewrite /degree /= addn1 up_logP.
by case: (gram_powers_compute small) => _ [u_is _ ->] <- _ _; rewrite opprK u_is.
Qed.

End GramPowers.

(* The prediction is x^T G_N X^T y with G_N = alpha S (I + E + ... + E^(N-1)), for all d, n, N, X, y
   and x. *)
Theorem gram_ladder_predicts (R : comRingType) (alpha : R) N d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) (S := X^T *m X) :
  prediction (gram_ladder alpha N) X labels query =
  (query *m inverse S (alpha *: S) N *m (X^T *m labels)) 0 0.
Proof.
have -> : inverse S (alpha *: S) N = horner_mx S (read_prediction (gram_ladder alpha N)).
  rewrite (@inverse_is_unique _ (alpha *: 'X) (read_prediction _) N).
    by rewrite inverse_at_S linearZ /= horner_mx_X.
  by rewrite gram_ladder_formula /residual /E2 -scalerAr expr2.
by rewrite prediction_is_read.
Qed.

(* k hyperpower steps of order p are N = p^k; Newton-Schulz is order 2. *)
Corollary hyperpower_gram_ladder (R : comRingType) (alpha : R) p k d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) (S := X^T *m X) :
  prediction (gram_ladder alpha (p ^ k)) X labels query =
  (query *m iter k (step S p) (alpha *: S) *m (X^T *m labels)) 0 0.
Proof. by rewrite gram_ladder_predicts hyperpower. Qed.

Corollary newton_gram_ladder (R : comRingType) (alpha : R) k d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) (S := X^T *m X) :
  prediction (gram_ladder alpha (2 ^ k)) X labels query =
  (query *m iter k (newton_step S) (alpha *: S) *m (X^T *m labels)) 0 0.
Proof. by rewrite gram_ladder_predicts newton. Qed.

Print Assumptions gram_ladder_layers.
Print Assumptions gram_ladder_predicts.
Print Assumptions hyperpower_gram_ladder.
Print Assumptions newton_gram_ladder.
