(* The Newton-Schulz iteration in k + 2 layers of one linear head from M_0 = alpha S, and in k + 1
   layers from M_0 = alpha I, for all d, n, k, X, y and x.  See
   constructions/regression/newton_direct.py.

   Every token stores u = 2^-j M_j x.  Then
     2^-(j+1) M_(j+1) x = u - 2^(j-1) (2^-j M_j) S (2^-j M_j) x = u - 2^(j-1) sum_i u_i <x_i, u>,
   which is one head: query u, key x, value -2^(j-1) u.  The last head computes
   2^k sum_i y_i <x_i, u>.  The ring contains 1/2. *)

From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import linear_heads reading.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* The registers: x and u have width d, y and estimate have width 1. *)
Inductive vector := x | u.
Inductive scalar := y | estimate.
Definition vector_code r := if r is x then true else false.
Definition scalar_code r := if r is y then true else false.
Lemma vector_code_inj : injective vector_code. Proof. by do 2!case. Qed.
Lemma scalar_code_inj : injective scalar_code. Proof. by do 2!case. Qed.
Canonical vector_eqType := Eval hnf in EqType vector (InjEqMixin vector_code_inj).
Canonical scalar_eqType := Eval hnf in EqType scalar (InjEqMixin scalar_code_inj).

Inductive start := gram | identity.  (* M_0 = alpha S or alpha I *)

Section Program.

Variables (R : comRingType) (alpha half : R).

Notation layer := (layer R vector_eqType scalar_eqType).

Definition one_head (scores : seq (R * vector * vector)) vectors scalars : layer :=
  Layer [:: Head scores vectors scalars] [::] [::].

Definition begin : layer := one_head [:: (alpha, x, x)] [:: (1, x, u)] [::].
Definition step (j : nat) : layer :=
  one_head [:: (1, u, x)] [:: (- (2%:R ^+ j * half), u, u)] [::].
Definition output (k : nat) : layer := one_head [:: (2%:R ^+ k, u, x)] [::] [:: (1, y, estimate)].

Definition newton_direct (s : start) (k : nat) : program R vector_eqType scalar_eqType :=
  Program
    (if s is gram then [:: (1, tt, x)] else [:: (1, tt, x); (alpha, tt, u)])
    [:: (1, tt, y)]
    ((if s is gram then [:: begin] else [::]) ++ [seq step j | j <- iota 0 k] ++ [:: output k])
    [:: (1, estimate, tt)].

Theorem newton_direct_layers s k :
  size (layers (newton_direct s k)) = if s is gram then k.+2 else k.+1.
Proof. by case: s => /=; rewrite size_cat size_map size_iota addn1. Qed.

(* The polynomials of Newton's recursion: M_0 = alpha t or alpha, M_(j+1) = 2 M_j - t M_j^2. *)
Fixpoint newton_polynomial (s : start) (j : nat) : {poly R} :=
  if j is i.+1 then
    2%:R * newton_polynomial s i - 'X * newton_polynomial s i ^+ 2
  else if s is gram then alpha *: 'X else alpha%:P.

Section Reading.

Variable s : start.
Hypothesis half2 : 2%:R * half = 1.

Local Notation M := (newton_polynomial s).

(* What the registers contain after j steps: the layer invariant. *)
Definition after_steps (j : nat) (f : formulas R vector_eqType scalar_eqType) :=
  [/\ p f x = 1, p f u = half ^+ j *: M j, a f y = 1, g f y = 0 & g f estimate = 0].

Lemma half_power j : 2%:R ^+ j * half ^+ j = 1.
Proof. by rewrite -exprMn half2 expr1n. Qed.

(* half^j M - 2^(j-1) t (half^j M)^2 = half^(j+1) (2 M - t M^2) *)
Lemma step_scaled j (m : {poly R}) (h := half ^+ j) :
  h *: m - (2%:R ^+ j * half) *: ('X * ((h *: m) * (h *: m))) =
  half ^+ j.+1 *: (2%:R * m - 'X * m ^+ 2).
Proof.
rewrite -scalerAl -!scalerAr !scalerA scalerBr mulr_natl -scaler_nat scalerA; congr (_ - _).
  by rewrite exprSr -mulrA [half * _]mulrC half2 mulr1.
by rewrite mulrACA half_power mul1r exprS expr2.
Qed.

Lemma reading_of_step j f : after_steps j f -> after_steps j.+1 (read_layer f (step j)).
Proof.
case=> px pu ay gy ge; split=> //=.
- by rewrite big_seq1 /= !addr0 mulr0 addr0.
- rewrite big_seq1 /kernel big_seq1 /= px pu mulr1 scale1r !addr0 scaleNr mulrN -step_scaled.
  by congr (_ - _); rewrite -scalerAr mulrA.
- by rewrite addr0.
- by rewrite big_seq1 /= mulr0 !addr0.
- by rewrite big_seq1 /= mulr0 !addr0.
Qed.

Lemma reading_of_steps k f :
  after_steps 0 f -> after_steps k (foldl (@read_layer _ _ _) f [seq step j | j <- iota 0 k]).
Proof.
move=> begun; elim: k => [|k IH]; first by [].
by rewrite -[k.+1]addn1 iotaD map_cat foldl_cat addn1; exact: reading_of_step.
Qed.

(* The embedding and, for "gram", the first layer write u = M_0 x. *)
Lemma reading_of_start :
  after_steps 0 (foldl (@read_layer _ _ _) (read_embedding (newton_direct s 0))
                       (if s is gram then [:: begin] else [::])).
Proof.
rewrite /after_steps; case: s; split=> //=; rewrite ?big_seq1 /kernel ?big_seq1 /=;
  rewrite ?expr0 ?addr0 ?add0r ?scale1r ?mulr1 ?mulr0 ?addr0 ?alg_polyC //.
by rewrite mulrC mul_polyC.
Qed.

(* The last head: 2^k sum_i y_i <x_i, 2^-k M_k x> = x^T M_k b. *)
Lemma reading_of_output k f : after_steps k f -> g (read_layer f (output k)) estimate = M k.
Proof.
case=> px pu ay gy ge /=; rewrite big_seq1 /kernel big_seq1 /= px pu ay gy ge.
by rewrite mulr0 mulr1 !addr0 !add0r !scale1r mulr1 scalerA half_power scale1r.
Qed.

Lemma formula_of_newton k : read_prediction (newton_direct s k) = M k.
Proof.
rewrite /read_prediction /read take_size /= !foldl_cat /= scale1r addr0.
by apply: reading_of_output; apply: reading_of_steps; exact: reading_of_start.
Qed.

End Reading.

(* The algorithm, on matrices. *)
Fixpoint newton d (s : start) (S : 'M[R]_d) (k : nat) : 'M[R]_d :=
  if k is j.+1 then 2%:R *: newton s S j - newton s S j *m S *m newton s S j
  else if s is gram then alpha *: S else alpha%:M.

Lemma newton_at_S d s (S : 'M[R]_d.+1) k : horner_mx S (newton_polynomial s k) = newton s S k.
Proof.
elim: k => [|k IH] /=.
  by case: s; rewrite ?linearZ /= ?horner_mx_X ?horner_mx_C.
rewrite rmorphB !rmorphM /= horner_mx_X IH rmorph_nat mulr_natl scaler_nat; congr (_ - _).
have S_commutes : S *m newton s S k = newton s S k *m S.
  by rewrite -IH -(comm_horner_mx _ (comm_mx_refl S)).
by rewrite -!mulmxE mulmxA S_commutes.
Qed.

(* The factor 2^k: after the first layer, if any, and j steps, u = 2^-j M_j x on every token. *)
Theorem newton_direct_register (s : start) (k j : nat) d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (input : 'rV[R]_d.+1) (label : R) :
  2%:R * half = 1 -> (j <= k)%N ->
  vec (run (newton_direct s k) ((if s is gram then 1 else 0) + j) X labels input label).2 u =
  half ^+ j *: (input *m newton s (X^T *m X) j).
Proof.
move=> half2 le_jk; rewrite (proj1 (proj2 (reading_is_sound _ _ _ _ _ _))) -newton_at_S.
have -> : read (newton_direct s k) ((if s is gram then 1 else 0) + j) =
    foldl (@read_layer _ _ _)
      (foldl (@read_layer _ _ _) (read_embedding (newton_direct s 0))
        (if s is gram then [:: begin] else [::])) [seq step i | i <- iota 0 j].
  rewrite /read -foldl_cat; congr (foldl _ _ _).
  suff -> : [seq step i | i <- iota 0 j] = take j ([seq step i | i <- iota 0 k] ++ [:: output k]).
    by case: s.
  by rewrite takel_cat ?size_map ?size_iota // -map_take take_iota (minn_idPl le_jk).
case: (reading_of_steps half2 j (reading_of_start s)) => _ -> _ _ _.
by rewrite linearZ -scalemxAr.
Qed.

(* The prediction is x^T M_k X^T y, for all d, n, k, X, y and x. *)
Theorem newton_direct_predicts (s : start) (k : nat) d n
    (X : 'M[R]_(n, d.+1)) (labels : 'cV[R]_n) (query : 'rV[R]_d.+1) :
  2%:R * half = 1 ->
  prediction (newton_direct s k) X labels query =
  (query *m newton s (X^T *m X) k *m (X^T *m labels)) 0 0.
Proof. by move=> half2; rewrite prediction_is_read formula_of_newton // newton_at_S. Qed.

End Program.

Print Assumptions newton_direct_layers.
Print Assumptions newton_direct_register.
Print Assumptions newton_direct_predicts.
