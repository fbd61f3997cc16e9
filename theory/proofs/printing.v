(* Programs of heads as lists of names and fractions, to be compared with tensors.

   A head is printed as a list of (query, key, value, output, number), where the number is the factor
   of the score times that of the value: the head adds number <query, key> value to the output.
   tests/regression/test_printed_programs.py evaluates `printed` for small programs over the
   rationals, and compares the numbers with those that are read from the tensors. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import String ZArith.
From weightwright Require Import linear_heads newton_direct ladder_terms.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(* An integer or a fraction in binary, which Rocq prints in decimal. *)
Definition integer (i : int) : Z :=
  match i with Posz n => Z.of_nat n | Negz n => Z.opp (Z.of_nat n.+1) end.
Definition fraction (q : rat) : Z * Z := (integer (numq q), integer (denq q)).

Section Printing.

Variables (V W : eqType) (vector_name : V -> string) (scalar_name : W -> string).

Definition named (A B : Type) (a : A -> string) (b : B -> string) (t : rat * A * B) :=
  (a t.1.2, b t.2, fraction t.1.1).

Definition products (A : Type) (name : A -> string) (scores : seq (rat * V * V))
    (values : seq (rat * A * A)) :=
  [seq (vector_name t.1.2, vector_name t.2, name v.1.2, name v.2, fraction (t.1.1 * v.1.1))
    | t <- scores, v <- values].

Definition printed_layer (l : layer rat_comRing V W) :=
  (flatten [seq products vector_name (scores h) (vectors h) ++
                products scalar_name (scores h) (scalars h) | h <- heads l],
   [seq named vector_name vector_name t | t <- own_vectors l] ++
   [seq named scalar_name scalar_name t | t <- own_scalars l]).

Definition printed (P : program rat_comRing V W) :=
  ([seq named (fun=> "x"%string) vector_name t | t <- embed_x P] ++
   [seq named (fun=> "y"%string) scalar_name t | t <- embed_y P],
   [seq printed_layer l | l <- layers P],
   [seq named scalar_name (fun=> ""%string) t | t <- answer P]).

End Printing.

(* The names of registers in the tensors. *)
Definition newton_vector (r : newton_direct.vector) : string :=
  if r is newton_direct.x then "x" else "u".
Definition newton_scalar (r : newton_direct.scalar) : string :=
  if r is newton_direct.y then "y" else "estimate".

Definition of_slot (o : slot) (part : string) : string :=
  append (if o is low then "low_" else "high_") part.
Definition ladder_vector (r : ladder_terms.vector) : string :=
  match r with
  | ladder_terms.x => "x" | u o => of_slot o "u" | e o => of_slot o "e" | w o => of_slot o "w"
  end.
Definition ladder_scalar (r : ladder_terms.scalar) : string :=
  match r with ladder_terms.y => "y" | s o => of_slot o "s" | f o => of_slot o "f" end.
