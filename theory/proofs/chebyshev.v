(* Chebyshev polynomials and the formulas that triple their degree: the docstring of
   constructions/regression/chebyshev.py.  They hold in every commutative ring; the ladder of
   Chebyshev's method (chebyshev_ladder.v) uses them for polynomials in S. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import ring_identities.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Chebyshev.
Variable A : comRingType.
Implicit Types x : A.
Add Ring chebyshev_ring : (commutative_ring A).

(* The numbers of the formulas, for the tactic `ring`. *)
Lemma numerals : (2%:R = 1 + 1 :> A) * (3%:R = 1 + (1 + 1) :> A) *
  (4%:R = 1 + (1 + (1 + 1)) :> A) * (8%:R = (1 + 1) * (1 + 1) * (1 + 1) :> A).
Proof. by split=> //; rewrite -[8%N]/(2 * 2 * 2)%N !natrM. Qed.

Ltac by_ring := rewrite ?numerals ?exprS ?expr0; in_ring A; ring.

(* T_0 = 1, T_1 = x and T_(n+2) = 2x T_(n+1) - T_n. *)
Fixpoint two_terms x (n : nat) : A * A :=
  if n is m.+1 then let: (a, b) := two_terms x m in (b, (x + x) * b - a) else (1, x).
Definition T x (n : nat) : A := (two_terms x n).1.

Lemma T0 x : T x 0 = 1. Proof. by []. Qed.
Lemma T1 x : T x 1 = x. Proof. by []. Qed.

Lemma T_step x n : T x n.+2 = (x + x) * T x n.+1 - T x n.
Proof. by rewrite /T /=; case: (two_terms x n). Qed.

(* 2 T_(m+b) T_b = T_(m+2b) + T_m, by induction on b. *)
Lemma T_product x m b : 2%:R * T x (m + b) * T x b = T x (m + b + b) + T x m.
Proof.
suff [] : (forall m, 2%:R * T x (m + b) * T x b = T x (m + b + b) + T x m) /\
    (forall m, 2%:R * T x (m + b.+1) * T x b.+1 = T x (m + b.+1 + b.+1) + T x m) by [].
elim: b {m} => [|b [IH0 IH1]].
  by split=> m; rewrite ?addn0 ?addn1 ?T0 ?T1 ?T_step; by_ring.
split=> // m; have := IH1 m.+1; have := IH0 m.+2; rewrite !addnS !addSn => same next.
have {}next : T x (m + b + b).+3 = 2%:R * T x (m + b).+2 * T x b.+1 - T x m.+1.
  by rewrite next addrK.
have {}same : T x (m + b + b).+2 = 2%:R * T x (m + b).+2 * T x b - T x m.+2.
  by rewrite same addrK.
rewrite (T_step x b) (T_step x (m + b + b).+2) next same (T_step x m).
by by_ring.
Qed.

(* The formulas of the docstring, for q = p + 1: the degrees 2q, 3q, 3q - 1, 3q - 2 and 3q + 1. *)
Lemma T_double x q : T x (q + q) = 2%:R * T x q ^+ 2 - 1.
Proof.
have := T_product x 0 q; rewrite add0n T0 => double.
by rewrite -[LHS](addrK 1) -double; by_ring.
Qed.

Theorem T_3q x q : T x (3 * q) = 4%:R * T x q ^+ 3 - 3%:R * T x q.
Proof.
rewrite (_ : 3 * q = q + q + q)%N; last by rewrite !mulSn addn0 addnA.
by rewrite -[LHS](addrK (T x q)) -T_product T_double; by_ring.
Qed.

(* 3q - 1 = 2q + p, and 2q - p = p + 2. *)
Theorem T_3q_minus_1 x p :
  T x (3 * p + 2) =
  4%:R * T x p.+1 ^+ 2 * T x p - 2%:R * x * T x p.+1 - T x p.
Proof.
rewrite (_ : 3 * p + 2 = p.+2 + p + p)%N; last by rewrite addn2 !mulSn addn0 !addSn addnA.
by rewrite -[LHS](addrK (T x p.+2)) -T_product addSnnS T_double T_step; by_ring.
Qed.

(* 3q - 2 = 2p + q, and 2p - q = p - 1; for p = 0 it is T_1 = x. *)
Theorem T_3q_minus_2 x p :
  T x (3 * p + 1) =
  4%:R * T x p ^+ 2 * T x p.+1 - 2%:R * x * T x p - T x p.+1.
Proof.
case: p => [|p]; first by rewrite T0 T1; by_ring.
rewrite (_ : 3 * p.+1 + 1 = p + p.+2 + p.+2)%N; last first.
  by rewrite !mulSn addn0 !addSn !addnS !addnA addn0.
by rewrite -[LHS](addrK (T x p)) -T_product -addSnnS T_double T_step; by_ring.
Qed.

(* 3q + 1 by the recursion. *)
Theorem T_3q_plus_1 x p :
  T x (3 * p + 4) =
  8%:R * x * T x p.+1 ^+ 3 - 4%:R * T x p.+1 ^+ 2 * T x p - 4%:R * x * T x p.+1 + T x p.
Proof.
rewrite (_ : 3 * p + 4 = (3 * p + 2).+2)%N; last by rewrite !addnS.
rewrite T_step (_ : (3 * p + 2).+1 = 3 * p.+1)%N; last by rewrite mulnS -addnS addnC.
by rewrite T_3q_minus_1 T_3q; by_ring.
Qed.

End Chebyshev.

Print Assumptions T_3q.
Print Assumptions T_3q_minus_1.
Print Assumptions T_3q_minus_2.
Print Assumptions T_3q_plus_1.
