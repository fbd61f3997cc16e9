(* The ladder from M_0 = alpha I: the power N of a residual in ceil(log_3(2N + 1)) layers, for all
   d, n, N, X, y and x.  See constructions/regression/ladder.py.

   Write E = I - alpha S.  Every token stores u, e and s of one exponent or of two neighbouring
   ones.  From exponents a and b, a layer computes 2a + b (the term Product) and 3a + 1 (and Cubed).

   Let M_L = (3^L - 1)/2, so that M_(L+1) = 3 M_L + 1.  By induction, L layers compute every
   n <= M_L and every pair n, n + 1 <= M_L.  Let q = floor(n/3).  Exponents 3q and 3q + 1 are
   computed from q.  Exponents 3q + 1 = 2q + (q + 1), 3q + 2 = 2(q + 1) + q and 3q + 3 are computed
   from the pair q, q + 1, where q + 1 <= M_(L-1) because 3q + 2 <= 3 M_(L-1) + 1.  Finally,
   2N + 1 <= 3^L is equivalent to N <= M_L. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import Lia.
From weightwright Require Import linear_heads reading ladder_terms ladder_layers hyperpower.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* The largest exponent that L layers compute. *)
Fixpoint reach (L : nat) : nat := if L is K.+1 then (3 * reach K).+1 else 0.

Lemma reach_power L : ((2 * reach L).+1 = 3 ^ L)%N.
Proof. by elim: L => //= L IH; rewrite expnS -IH mulnS [in RHS]mulnS mulnCA. Qed.

Lemma layers_of_ladder N L : ((2 * N).+1 <= 3 ^ L)%N = (N <= reach L)%N.
Proof. by rewrite -reach_power ltnS leq_mul2l. Qed.

(* The exponents n, or n and n + 1, that tokens store after a layer, and those before this layer. *)
Definition level := (nat * bool)%type.
Definition top (t : level) : nat := (t.1 + t.2)%N.
Definition below (t : level) : level := ((t.1 %/ 3)%N, (1 < t.1 %% 3 + t.2)%N).

(* If L + 1 layers reach the exponents of a level, L layers reach those below. *)
Lemma below_reached t L : (top t <= reach L.+1 -> top (below t) <= reach L)%N.
Proof.
case: t => n two; rewrite /top /below /= {1}(divn_eq n 3) mulnC.
move: (n %/ 3)%N (n %% 3)%N (@ltn_pmod n 3 isT) (reach L) => q r r_lt_3 M.
case: (ltnP 1 (r + two)%N) => [big|_] /leP; rewrite -!multE -!plusE => at_most; apply/leP.
  by move/leP: big; rewrite -!plusE /=; lia.
by rewrite /=; lia.
Qed.

(* Exponents 3q and 3q + 1 come from q, and 3q + 1, 3q + 2 and 3q + 3 from q and q + 1. *)
Lemma exponents_below (t : level) n : n = t.1 \/ t.2 /\ n = t.1.+1 ->
  exists2 m, n = (3 * (below t).1 + m)%N & if (below t).2 then (0 < m <= 3)%N else (m <= 1)%N.
Proof.
case: t => k two; rewrite /below /= => which.
have -> : n = (3 * (k %/ 3) + (k %% 3 + (n - k)))%N.
  rewrite addnA [(3 * _)%N]mulnC -divn_eq subnKC //.
  by case: which => [->|[_ ->]].
exists (k %% 3 + (n - k))%N => //; move: (@ltn_pmod k 3 isT).
case: which => [->|[two_1 ->]]; rewrite ?subnn ?subSnn ?two_1; first case: two.
all: by case: (k %% 3)%N => [|[|[|]]].
Qed.

Section Powers.

Variables (R : comRingType) (alpha : R).

(* The residual E of exponent 1. *)
Definition E : {poly R} := 1 - alpha *: 'X.

(* The terms of exponent n, from the level below it. *)
Definition power_terms (t : level) (n : nat) : seq (term R) :=
  let more := (n - 3 * t.1)%N in
  if t.2 then
    [:: match more with
        | 2 => Product 1 high low
        | 3 => Product 1 high high
        | _ => Product 1 low high
        end]
  else if t.1 == 0%N then Unchanged 1 low :: (if more is 0%N then [::] else [:: Once alpha low])
  else Product 1 low low :: (if more is 0%N then [::] else [:: Cubed alpha low]).

(* What the registers contain after a layer: the invariant. *)
Definition contains_level (F : formulas R vector_eqType scalar_eqType) (t : level) :=
  [/\ contains_inputs F, contains_residual F low, p F (e low) = E ^+ t.1 &
      t.2 -> contains_residual F high /\ p F (e high) = E ^+ t.1.+1].

Lemma power_terms_factors t n : \sum_(c <- power_terms t n) factor c = 1.
Proof.
rewrite /power_terms; case: t.2; first by rewrite big_seq1; case: (n - _)%N => [|[|[|[|m]]]].
by case: ifP => _; case: (n - _)%N => [|m]; rewrite !big_cons big_nil /= ?addr0.
Qed.

Lemma power_terms_sources F t n :
  contains_level F t -> contains_sources F (power_terms t n).
Proof.
case=> _ at_low _ at_high; split; last first.
  by rewrite /power_terms; case: t.2; case: (t.1 == 0%N); case: (n - _)%N => [|[|[|[|m]]]].
move=> a; rewrite /power_terms.
case: t.2 at_high => [[] // at_high _|_].
  by case: (n - _)%N => [|[|[|[|m]]]]; rewrite !inE; do ?[case/orP]; move/eqP ->.
case: ifP => _; case: (n - _)%N => [|m]; rewrite !inE; do ?[case/orP]; by move/eqP ->.
Qed.

(* The exponents 3q and 3q + 1 from q; 3q + 1, 3q + 2 and 3q + 3 from q and q + 1. *)
Lemma power_terms_residual F t m :
  contains_level F t -> (if t.2 then 0 < m <= 3 else m <= 1)%N ->
  residual_of F (power_terms t (3 * t.1 + m)%N) = E ^+ (3 * t.1 + m)%N.
Proof.
case=> [inputs _ at_low at_high]; rewrite /residual_of /power_terms addnC addnK addnC.
have exponent i j : i = j -> E ^+ i = E ^+ j by move=> ->.
case: t.2 at_high => [[] // _ at_high|_].
  by case: m => [|[|[|[|m]]]] // _; rewrite big_seq1 /= ?at_low ?at_high scale1r -exprM -exprD;
    apply: exponent; rewrite -!multE -!plusE; lia.
case: ifP => [/eqP q_0|_]; case: m => [|[|m]] // _; rewrite !big_cons big_nil /= at_low.
- by rewrite q_0 scale1r addr0.
- by rewrite q_0 /E expr0 expr1 mulr1 scale1r addr0.
- by rewrite scale1r addr0 -exprM -exprD; apply: exponent; rewrite -!multE -!plusE; lia.
have cube : E ^+ t.1 ^+ 3 = E ^+ (3 * t.1) by rewrite -exprM mulnC.
rewrite scale1r addr0 -exprSr cube addn1 exprSr /E -/E.
by rewrite mulrBr mulr1 -scalerAr [_ * 'X]mulrC.
Qed.

(* The plan: the terms of every layer, from the last one downwards. *)
Fixpoint powers (L : nat) (t : level) : seq (layer R vector_eqType scalar_eqType) :=
  if L is K.+1 then
    rcons (powers K (below t))
      (ladder_layer (power_terms (below t) t.1)
                    (if t.2 then Some (power_terms (below t) t.1.+1) else None))
  else [::].

(* By induction, L layers compute every level that they reach. *)
Lemma powers_computes L t :
  (top t <= reach L)%N -> contains_level (after_layers (powers L t)) t.
Proof.
elim: L t => [|L IH] t reached.
  case: t reached => n two; rewrite /top leqn0 addn_eq0 /= => /andP[/eqP ->].
  case: two => // _.
  have [inputs at_low e_1] := @ladder_begins R; split=> //; by rewrite e_1.
rewrite /after_layers /= -cats1 foldl_cat /= -/(after_layers _).
have at_below := IH _ (below_reached reached); have [inputs _ _ _] := at_below.
set F := after_layers _ in at_below inputs *.
have rung n : n = t.1 \/ t.2 /\ n = t.1.+1 ->
    contains_sources F (power_terms (below t) n) /\
    residual_of F (power_terms (below t) n) = E ^+ n.
  move=> /exponents_below [m -> more]; split; last exact: power_terms_residual.
  exact: power_terms_sources.
have [low_sources low_is] := rung t.1 (or_introl erefl).
have factors n := power_terms_factors (below t) n.
split.
- exact: layer_inputs.
- exact: (proj1 (layer_low _ inputs low_sources (factors _))).
- by rewrite (proj2 (layer_low _ inputs low_sources (factors _))).
move=> two; have [high_sources high_is] := rung t.1.+1 (or_intror (conj two erefl)).
by rewrite two -high_is; exact: layer_high.
Qed.

(* The number of layers is exact. *)
Definition power_ladder (N : nat) : program R vector_eqType scalar_eqType :=
  ladder (powers (up_log 3 (2 * N).+1) (N, false)).

Theorem power_ladder_layers N : size (layers (power_ladder N)) = up_log 3 (2 * N).+1.
Proof.
rewrite /power_ladder number_of_layers; move: (up_log _ _) (N, false) => L t.
by elim: L t => //= L IH t; rewrite size_rcons IH.
Qed.

(* The prediction's polynomial is G_N, with t G_N = 1 - E^N. *)
Lemma power_ladder_formula N : 'X * read_prediction (power_ladder N) = 1 - E ^+ N.
Proof.
rewrite /power_ladder ladder_prediction.
have reached : (top (N, false) <= reach (up_log 3 (2 * N).+1))%N.
  by rewrite /top addn0 -layers_of_ladder up_logP.
by case: (powers_computes reached) => _ [u_is _ ->] <- _; rewrite opprK u_is.
Qed.

End Powers.

(* G_N = alpha (1 + E + ... + E^(N-1)), as a polynomial and as a matrix. *)
Lemma inverse_at_S (R : comRingType) d (S : 'M[R]_d.+1) (M0 : {poly R}) N :
  horner_mx S (inverse 'X M0 N) = inverse S (horner_mx S M0) N.
Proof.
have M_is : horner_mx S (residual 'X M0) = residual S (horner_mx S M0).
  by rewrite /residual rmorphB rmorph1 rmorphM /= horner_mx_X.
by rewrite /inverse rmorphM rmorph_sum /=; under eq_bigr do rewrite rmorphX /= M_is.
Qed.

Lemma inverse_is_unique (R : comRingType) (M0 q : {poly R}) N :
  'X * q = 1 - residual 'X M0 ^+ N -> q = inverse 'X M0 N.
Proof.
move=> q_is; apply: (monic_lreg (monicX R)).
by rewrite q_is -residual_inverse /residual subKr.
Qed.

(* The prediction is x^T G_N X^T y with G_N = alpha (I + E + ... + E^(N-1)), for all d, n, N, X, y
   and x. *)
Theorem power_ladder_predicts (R : comRingType) (alpha : R) N d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) :
  prediction (power_ladder alpha N) X labels query =
  (query *m inverse (X^T *m X) alpha%:M N *m (X^T *m labels)) 0 0.
Proof.
have -> : inverse (X^T *m X) alpha%:M N =
    horner_mx (X^T *m X) (read_prediction (power_ladder alpha N)).
  rewrite (@inverse_is_unique _ alpha%:P (read_prediction _) N) ?inverse_at_S ?horner_mx_C //.
  by rewrite power_ladder_formula /residual /E -mul_polyC [alpha%:P * _]mulrC.
by rewrite prediction_is_read.
Qed.

(* k hyperpower steps of order p are N = p^k; Newton-Schulz is order 2. *)
Corollary hyperpower_ladder (R : comRingType) (alpha : R) p k d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) :
  prediction (power_ladder alpha (p ^ k)) X labels query =
  (query *m iter k (step (X^T *m X) p) alpha%:M *m (X^T *m labels)) 0 0.
Proof. by rewrite power_ladder_predicts hyperpower. Qed.

Corollary newton_ladder (R : comRingType) (alpha : R) k d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) :
  prediction (power_ladder alpha (2 ^ k)) X labels query =
  (query *m iter k (newton_step (X^T *m X)) alpha%:M *m (X^T *m labels)) 0 0.
Proof. by rewrite power_ladder_predicts newton. Qed.

(* k steps of gradient descent are N = k. *)
Corollary gradient_descent_ladder (R : comRingType) (alpha : R) k d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) :
  prediction (power_ladder alpha k) X labels query =
  (query *m iter k (gradient_step (X^T *m X) (X^T *m labels) alpha) 0) 0 0.
Proof. by rewrite power_ladder_predicts gradient_descent -mulmxA. Qed.

Print Assumptions hyperpower_ladder.
Print Assumptions newton_ladder.
Print Assumptions gradient_descent_ladder.
Print Assumptions power_ladder_layers.
Print Assumptions power_ladder_predicts.
