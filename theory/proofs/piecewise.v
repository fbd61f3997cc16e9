(* Functions that are piecewise polynomials: what ReLUs and products compute along a line.

   `piecewise D f`: every open interval contains an open interval on which f is a polynomial of
   degree at most D.  Sums, products and ReLUs preserve it, and no infinite set of pieces has to be
   described.  F is any ordered field, such as Q or R. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import degrees.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Piecewise.
Variable F : realFieldType.
Implicit Types (f g : F -> F) (p q : {poly F}) (a b c t : F).

Definition relu t : F := Num.max 0 t.

Definition agree f p a b : Prop := forall t, a < t < b -> f t = p.[t].

Definition piecewise (D : nat) f : Prop := forall a b, a < b ->
  exists c d p, [/\ a <= c, c < d, d <= b, (size p <= D.+1)%N & agree f p c d].

(* A polynomial that is not 0 has a value that is not 0 in every interval: it has finitely many
   roots. *)
Lemma nonzero_value p a b : p != 0 -> a < b -> exists2 c, a < c < b & p.[c] != 0.
Proof.
move=> p0 ab; pose point (i : nat) := a + (b - a) / i.+2%:R.
have ba0 : 0 < b - a by rewrite subr_gt0.
have inside i : a < point i < b.
  rewrite ltr_addl divr_gt0 ?ltr0Sn //= -ltr_subr_addl ltr_pdivr_mulr ?ltr0Sn //.
  by rewrite ltr_pmulr // ltr1n.
have point_inj : injective point.
  move=> i j /addrI /(mulfI (lt0r_neq0 ba0)) /invr_inj /eqP.
  by rewrite eqr_nat => /eqP[].
pose points := [seq point i | i <- iota 0 (size p)].
have [all_roots|] := boolP (all (root p) points).
  have := max_poly_roots p0 all_roots; rewrite map_inj_uniq // iota_uniq size_map size_iota.
  by move=> /(_ isT); rewrite ltnn.
by case/allPn=> c /mapP[i _ ->] not_root; exists (point i).
Qed.

(* Two polynomials that agree on an interval are equal. *)
Lemma equal_on_interval p q a b : a < b -> agree (horner p) q a b -> p = q.
Proof.
move=> ab same; apply/eqP; rewrite -subr_eq0; apply/negPn/negP => pq0.
have [c c_in] := nonzero_value pq0 ab.
by rewrite hornerD hornerN (same c c_in) subrr eqxx.
Qed.

(* A polynomial is bounded on a bounded set. *)
Lemma bounded p M : exists B, forall t, `|t| <= M -> `|p.[t]| <= B.
Proof.
elim/poly_ind: p => [|p e [B HB]]; first by exists 0 => t _; rewrite horner0 normr0.
exists (B * M + `|e|) => t Ht; rewrite hornerMXaddC.
apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2r normrM.
by apply: ler_pmul; rewrite ?normr_ge0 ?HB.
Qed.

(* A polynomial that is positive at c is positive near c. *)
Lemma positive_near p c : 0 < p.[c] ->
  exists2 e, 0 < e & forall t, `|t - c| < e -> 0 < p.[t].
Proof.
move=> pc; have [q pq] : exists q, p - p.[c]%:P = q * ('X - c%:P).
  by apply/factor_theorem; rewrite /root hornerD hornerN hornerC subrr.
have [B HB] := bounded q (`|c| + 1).
have B1 : 0 < `|B| + 1 by rewrite ltr_paddl.
exists (Num.min 1 (p.[c] / (`|B| + 1))); first by rewrite lt_minr ltr01 divr_gt0.
move=> t; rewrite lt_minr => /andP[near1 near].
have near_c : `|t| <= `|c| + 1.
  by rewrite -[t](subrK c) addrC (le_trans (ler_norm_add _ _)) // ler_add2l ltW.
have difference : p.[t] - p.[c] = q.[t] * (t - c).
  have /(congr1 (horner^~ t)) := pq.
  by rewrite hornerM !hornerD !hornerN hornerX !hornerC.
suff small : `|p.[t] - p.[c]| < p.[c].
  by move: small; rewrite ltr_distl subrr => /andP[].
rewrite difference normrM; apply: le_lt_trans (_ : _ <= (`|B| + 1) * `|t - c|) _.
  apply: ler_wpmul2r => //; apply: le_trans (HB t near_c) _.
  by apply: le_trans (ler_norm B) _; rewrite ler_addl.
by rewrite mulrC -ltr_pdivl_mulr.
Qed.

(* Constants, sums, products: a second function is restricted to an interval of the first. *)
Lemma piecewise_ext D f g : f =1 g -> piecewise D f -> piecewise D g.
Proof.
move=> fg Hf a b /Hf[c [d [p [ac cd db size_p fp]]]].
by exists c, d, p; split=> // t /fp <-.
Qed.

Lemma piecewise_poly D p : (size p <= D.+1)%N -> piecewise D (horner p).
Proof. by move=> size_p a b ab; exists a, b, p. Qed.

Lemma piecewise_const D c : piecewise D (fun=> c).
Proof.
apply: (@piecewise_ext _ (horner c%:P)) => [t|]; first by rewrite hornerC.
by apply: piecewise_poly; apply: leq_trans (size_polyC_leq1 c) _.
Qed.

Lemma piecewiseW D D' f : (D <= D')%N -> piecewise D f -> piecewise D' f.
Proof.
move=> DD Hf a b /Hf[c [d [p [ac cd db size_p fp]]]].
by exists c, d, p; split=> //; apply: leq_trans size_p _.
Qed.

Lemma both D D' f g a b : piecewise D f -> piecewise D' g -> a < b ->
  exists c d p q, [/\ a <= c, c < d & d <= b] /\
    [/\ (size p <= D.+1)%N, (size q <= D'.+1)%N, agree f p c d & agree g q c d].
Proof.
move=> Hf Hg /Hf[c [d [p [ac cd db size_p fp]]]].
have [c' [d' [q [cc' c'd' d'd size_q gq]]]] := Hg c d cd.
exists c', d', p, q; split; split=> //; [exact: le_trans cc' | exact: le_trans db |].
move=> t /andP[c't td']; apply: fp.
by rewrite (le_lt_trans cc' c't) (lt_le_trans td' d'd).
Qed.

Lemma piecewise_add D f g :
  piecewise D f -> piecewise D g -> piecewise D (fun t => f t + g t).
Proof.
move=> Hf Hg a b /(both Hf Hg)[c [d [p [q [[ac cd db] [size_p size_q fp gq]]]]]].
exists c, d, (p + q); split=> // [|t t_in]; first exact: size_add_le.
by rewrite hornerD fp // gq.
Qed.

Lemma piecewise_mul D D' f g :
  piecewise D f -> piecewise D' g -> piecewise (D + D') (fun t => f t * g t).
Proof.
move=> Hf Hg a b /(both Hf Hg)[c [d [p [q [[ac cd db] [size_p size_q fp gq]]]]]].
exists c, d, (p * q); split=> // [|t t_in]; first exact: size_mul_le.
by rewrite hornerM fp // gq.
Qed.

Lemma piecewise_sum D (I : Type) (s : seq I) (f : I -> F -> F) :
  (forall i, piecewise D (f i)) -> piecewise D (fun t => \sum_(i <- s) f i t).
Proof.
move=> Hf; elim: s => [|i s IH].
  by apply: (@piecewise_ext _ (fun=> 0)) (piecewise_const D 0) => t; rewrite big_nil.
apply: (@piecewise_ext _ (fun t => f i t + \sum_(j <- s) f j t)) (piecewise_add (Hf i) IH).
by move=> t; rewrite big_cons.
Qed.

(* ReLU: near a point where the polynomial is not 0 it has one sign. *)
Lemma one_sign p a b : a < b -> exists c d, [/\ a <= c, c < d, d <= b &
  (forall t, c < t < d -> 0 <= p.[t]) \/ (forall t, c < t < d -> p.[t] <= 0)].
Proof.
move=> ab; have [->|p0] := eqVneq p 0.
  by exists a, b; split=> //; left=> t _; rewrite horner0.
have [c /andP[ac cb] pc] := nonzero_value p0 ab.
have [e e0 same_sign] : exists2 e, 0 < e & forall t, `|t - c| < e -> 0 < (p.[c] *: p).[t].
  by apply: positive_near; rewrite hornerZ -expr2 lt0r sqrf_eq0 pc sqr_ge0.
exists c, (Num.min b (c + e)); split; first exact: ltW.
- by rewrite lt_minr cb ltr_addl.
- by rewrite le_minl lexx.
have {same_sign} sign t : c < t < Num.min b (c + e) -> 0 < p.[c] * p.[t].
  rewrite lt_minr => /and3P[ct _ te]; rewrite -hornerZ; apply: same_sign.
  by rewrite ger0_norm ?subr_ge0 1?ltW // ltr_subl_addl.
have [pos|neg|/eqP] := ltrgtP 0 p.[c]; last by rewrite eq_sym (negPf pc).
- by left=> t /sign; rewrite pmulr_rgt0 // => /ltW.
- by right=> t /sign; rewrite nmulr_rgt0 // => /ltW.
Qed.

Lemma piecewise_relu D f : piecewise D f -> piecewise D (fun t => relu (f t)).
Proof.
move=> Hf a b /Hf[a' [b' [p [aa a'b' bb size_p fp]]]].
have [c [d [ac cd db sign]]] := one_sign p a'b'.
have fp' t : c < t < d -> f t = p.[t].
  by move=> /andP[ct td]; apply: fp; rewrite (le_lt_trans ac ct) (lt_le_trans td db).
have [ac' db'] : a <= c /\ d <= b by split; [exact: le_trans ac | exact: le_trans bb].
case: sign => sign.
  by exists c, d, p; split=> // t t_in; rewrite /relu fp' // max_r // sign.
exists c, d, 0; split=> // [|t t_in]; first by rewrite size_poly0.
by rewrite /relu fp' // max_l ?horner0 // sign.
Qed.

End Piecewise.
