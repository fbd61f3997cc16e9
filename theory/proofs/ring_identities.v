(* Rocq's tactic `ring` for MathComp's commutative rings.

   The tactic recognises operations by their names, and MathComp has several names for one
   operation.  `in_ring A` replaces them by those of this file, and a file that uses it contains
   `Add Ring any_name : (commutative_ring A)`. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Export Ring_theory Ring.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Operations.

Variable A : comRingType.

Definition zero : A := 0.
Definition one : A := 1.
Definition add (a b : A) : A := a + b.
Definition mul (a b : A) : A := a * b.
Definition opp (a : A) : A := - a.
Definition sub (a b : A) : A := a - b.

Lemma commutative_ring : ring_theory zero one add mul sub opp eq.
Proof.
by split; [exact: add0r | exact: addrC | exact: addrA | exact: mul1r | exact: mulrC
         | exact: mulrA | exact: mulrDl | done | exact: addrN].
Qed.

End Operations.

Ltac in_ring A :=
  repeat match goal with
  | |- context [@GRing.add ?Z ?a ?b] => change (@GRing.add Z a b) with (@add A a b)
  | |- context [@GRing.mul ?Z ?a ?b] => change (@GRing.mul Z a b) with (@mul A a b)
  | |- context [@GRing.opp ?Z ?a] => change (@GRing.opp Z a) with (@opp A a)
  | |- context [@GRing.zero ?Z] => change (@GRing.zero Z) with (@zero A)
  | |- context [@GRing.one ?Z] => change (@GRing.one Z) with (@one A)
  | |- context [@eq (GRing.Zmodule.sort ?Z) ?l ?r] =>
    change (@eq (GRing.Zmodule.sort Z) l r) with (@eq (GRing.ComRing.sort A) l r)
  | |- context [@eq (GRing.Ring.sort ?Z) ?l ?r] =>
    change (@eq (GRing.Ring.sort Z) l r) with (@eq (GRing.ComRing.sort A) l r)
  | |- context [@eq (poly_of ?Z) ?l ?r] =>
    change (@eq (poly_of Z) l r) with (@eq (GRing.ComRing.sort A) l r)
  end.
