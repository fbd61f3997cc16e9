(* Average-hard attention, and the scores that find a token or a position with a gap.

   Positions are 0 ... n, of which 0 is BOS.  A head attends to the positions with the largest score
   among those that its mask allows, and returns the mean of their values (0 if there are none).
   See constructions/tokens/positions.py for codes and lattice points. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Lemma natr_succ (R : ringType) m : m%:R + 1 = m.+1%:R :> R.
Proof. by rewrite -addn1 natrD. Qed.

Section Hardmax.
Variables (F : realFieldType) (n : nat).
Implicit Types (mask : rel 'I_n.+1) (s : 'I_n.+1 -> 'I_n.+1 -> F) (i j : 'I_n.+1).

Definition causal : rel 'I_n.+1 := fun i j => (j <= i)%N.
Definition strictly_causal : rel 'I_n.+1 := fun i j => (j < i)%N.

Definition attended mask s i : pred 'I_n.+1 :=
  [pred j | mask i j & [forall j', mask i j' ==> (s i j' <= s i j)]].

Definition hardmax (V : lmodType F) mask s (value : 'I_n.+1 -> V) i : V :=
  #|attended mask s i|%:R^-1 *: \sum_(j in attended mask s i) value j.

(* The score at j exceeds every other score by at least the gap. *)
Definition found mask s (gap : F) i j : Prop :=
  mask i j /\ forall j', mask i j' -> j' != j -> s i j' + gap <= s i j.

(* Then j alone is attended to, and its value is returned. *)
Lemma hardmax_found (V : lmodType F) mask s (value : 'I_n.+1 -> V) gap i j :
  0 < gap -> found mask s gap i j -> hardmax mask s value i = value j.
Proof.
move=> gap0 [mask_j best].
have less j' : mask i j' -> j' != j -> s i j' < s i j.
  by move=> mask_j' ne; apply: lt_le_trans (best _ mask_j' ne); rewrite ltr_addl.
have only_j : attended mask s i =i pred1 j.
  move=> j'; rewrite !inE; apply/andP/eqP => [[mask_j' /forallP /(_ j)]|->].
    by rewrite mask_j /=; apply: contraTeq => /(less _ mask_j'); rewrite -ltNge.
  split=> //; apply/forallP => k; apply/implyP => mask_k.
  by have [->//|/(less _ mask_k)/ltW] := eqVneq k j.
by rewrite /hardmax (eq_card only_j) card1 invr1 scale1r (eq_bigl _ _ only_j) big_pred1_eq.
Qed.

(* A position without any position before it receives 0. *)
Lemma hardmax_none (V : lmodType F) mask s (value : 'I_n.+1 -> V) i :
  (forall j, ~~ mask i j) -> hardmax mask s value i = 0.
Proof.
move=> none; rewrite /hardmax big_pred0 ?scaler0 // => j.
by rewrite inE (negPf (none j)).
Qed.

End Hardmax.

(* Inner products of rows. *)
Section Inner.
Variables (R : comRingType) (k : nat).
Implicit Types u v w : 'rV[R]_k.

Definition inner u v : R := \sum_i u 0 i * v 0 i.

Lemma innerC u v : inner u v = inner v u.
Proof. by apply: eq_bigr => i _; rewrite mulrC. Qed.

Lemma inner0 u : inner u 0 = 0.
Proof. by rewrite /inner big1 // => i _; rewrite mxE mulr0. Qed.

Lemma innerZl a u v : inner (a *: u) v = a * inner u v.
Proof. by rewrite /inner mulr_sumr; apply: eq_bigr => i _; rewrite mxE mulrA. Qed.

End Inner.

(* Lattice points: the score 2c<P_a, P_j> - c|P_j|^2 is largest at j = a, by at least c, if the
   points are distinct: it is c|P_a|^2 - c|P_a - P_j|^2, and |P_a - P_j|^2 is a positive integer. *)
Section Lattice.
Variables (F : realFieldType) (k : nat).
Implicit Types p q : 'rV[int]_k.

Definition real p : 'rV[F]_k := map_mx intr p.

Definition look_up (c : F) (u v : 'rV[F]_k) : F := 2%:R * c * inner u v - c * inner v v.

Lemma square_of_difference (c x y : F) :
  2%:R * c * (x * x) - c * (x * x) - (2%:R * c * (x * y) - c * (y * y)) = c * ((x - y) * (x - y)).
Proof.
have -> : (x - y) * (x - y) = x * x - (x * y) *+ 2 + y * y by rewrite -expr2 sqrrB !expr2.
rewrite mulrDr mulrBr mulrnAr !mulr_natl !mulrnAl opprB addrA.
by rewrite [c * (x * x) *+ 2]mulr2n addrK addrAC.
Qed.

Lemma look_up_difference c (u v : 'rV[F]_k) :
  look_up c u u - look_up c u v = c * inner (u - v) (u - v).
Proof.
rewrite /look_up /inner !mulr_sumr -!sumrB; apply: eq_bigr => i _.
by rewrite !mxE square_of_difference.
Qed.

Lemma distance_at_least_1 p q : p != q -> 1 <= inner (real p - real q) (real p - real q).
Proof.
move=> pq; have [i pq_i] : exists i, p 0 i != q 0 i.
  apply/existsP; apply: contraNT pq => /existsPn same.
  by apply/eqP/rowP => i; apply/eqP; rewrite -[_ == _]negbK.
rewrite /inner (bigD1 i) //= ler_paddr ?sumr_ge0 // => [j _|].
  by rewrite -expr2 sqr_ge0.
rewrite -expr2 !mxE -rmorphB -rmorphX ler1z -gtz0_ge1 exprn_even_gt0 //=.
by rewrite subr_eq0.
Qed.

Lemma look_up_gap (c : F) p q : 0 <= c -> q != p ->
  look_up c (real p) (real q) + c <= look_up c (real p) (real p).
Proof.
move=> c0 qp; rewrite -ler_subr_addl look_up_difference ler_pemulr //.
by apply: distance_at_least_1; rewrite eq_sym.
Qed.

End Lattice.

(* Binary codes b(x), vectors of r numbers +-1 for the numbers x < 2^r: <b(x), b(x)> = r, and
   <b(x), b(y)> <= r - 2 for x != y. *)
Section Codes.
Variables (F : realFieldType) (r : nat).

Definition bit (x i : nat) : bool := odd (x %/ 2 ^ i).

Definition code (x : nat) : 'rV[F]_r := \row_(i < r) (if bit x i then 1 else -1).

Definition differing (x y : nat) : nat := \sum_(i < r) (bit x i != bit y i).

Lemma inner_code x y : inner (code x) (code y) = r%:R - 2%:R * (differing x y)%:R.
Proof.
have -> : r%:R = \sum_(i < r) (1 : F) by rewrite sumr_const card_ord.
rewrite natr_sum mulr_sumr -sumrB; apply: eq_bigr => i _; rewrite !mxE.
have one_less_two : 1 - 2%:R = -1 :> F by rewrite mulr2n opprD addrA subrr add0r.
by case: (bit x i); case: (bit y i);
   rewrite /= ?mulrNN ?mulrN ?mulr1 ?mulr0 ?oppr0 ?addr0 ?one_less_two.
Qed.

Lemma same_bits k x y : (x < 2 ^ k)%N -> (y < 2 ^ k)%N ->
  (forall i, (i < k)%N -> bit x i = bit y i) -> x = y.
Proof.
elim: k x y => [|k IH] x y; first by rewrite !ltnS !leqn0 => /eqP-> /eqP->.
rewrite expnSr -!ltn_divLR // => x_lt y_lt same.
have halves : (x %/ 2 = y %/ 2)%N.
  by apply: IH => // i i_lt; have := same i.+1 i_lt; rewrite /bit expnS !divnMA.
rewrite (divn_eq x 2) (divn_eq y 2) halves !modn2.
by have := same 0%N isT; rewrite /bit !divn1 => ->.
Qed.

Lemma differing_gt0 x y : (x < 2 ^ r)%N -> (y < 2 ^ r)%N -> x != y -> (0 < differing x y)%N.
Proof.
move=> x_lt y_lt; rewrite lt0n; apply: contra_neq => /eqP; rewrite sum_nat_eq0 => /forallP same.
apply: (same_bits x_lt y_lt) => i i_lt.
by have := same (Ordinal i_lt); rewrite eqb0 negbK => /eqP.
Qed.

Lemma inner_code_self x : inner (code x) (code x) = r%:R.
Proof. by rewrite inner_code /differing big1 ?mulr0 ?subr0 // => i _; rewrite eqxx. Qed.

Lemma inner_code_other x y : (x < 2 ^ r)%N -> (y < 2 ^ r)%N -> x != y ->
  inner (code x) (code y) <= r%:R - 2%:R.
Proof.
move=> x_lt y_lt xy; rewrite inner_code ler_add2l ler_opp2 ler_pemulr ?ler0n //.
by rewrite ler1n differing_gt0.
Qed.

(* A row with the signs of a code, and entries of absolute value at least 1, is decoded with a gap
   of 2. *)
Lemma code_decoded (w : 'rV[F]_r) x y : (x < 2 ^ r)%N -> (y < 2 ^ r)%N -> y != x ->
  (forall i, 1 <= w 0 i * code x 0 i) -> inner w (code y) + 2%:R <= inner w (code x).
Proof.
move=> x_lt y_lt yx signs; have d0 := differing_gt0 y_lt x_lt yx.
apply: le_trans (_ : inner w (code y) + 2%:R * (differing y x)%:R <= _).
  by rewrite ler_add2l ler_pemulr ?ler0n // ler1n.
rewrite /inner /differing natr_sum mulr_sumr -big_split ler_sum // => i _.
have := signs i; rewrite !mxE; case: (bit x i); case: (bit y i); rewrite /= ?mulr0 ?addr0 //.
- rewrite mulrN !mulr1 => w1; rewrite addrC ler_subl_addr mulr2n.
  by apply: ler_add.
- rewrite mulrN !mulr1 => w1; rewrite -ler_subr_addl mulr2n.
  by apply: ler_add.
Qed.

End Codes.
