(* One MLP composes two maps of the states 0 ... H: the ReLUs of the forms "lean" and "robust" of
   constructions/computation/semiautomaton.py, for n = H + 1 states.

   A map f is stored as the numbers f(0), ..., f(H).  The sums below compute f(g) for a state g. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import piecewise hard_attention.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Compose.
Variables (F : realFieldType) (H : nat) (f : nat -> F).
Hypothesis f_bounds : forall t, (t <= H)%N -> 0 <= f t <= H%:R.

Let difference t : (t < H)%N -> `|f t.+1 - f t| <= H%:R.
Proof.
move=> t_lt; have /andP[a0 aH] := f_bounds t_lt; have /andP[b0 bH] := f_bounds (ltnW t_lt).
by rewrite ler_distl ler_subl_addr; rewrite (le_trans aH) ?ler_addr // (le_trans bH) ?ler_addr.
Qed.

Lemma relu_pos (x : F) : 0 <= x -> relu x = x. Proof. by move=> x0; rewrite /relu max_r. Qed.
Lemma relu_neg (x : F) : x <= 0 -> relu x = 0. Proof. by move=> x0; rewrite /relu max_l. Qed.

(* lean: the ReLU of t = k + 1 has the sign e = (-1)^k, with K = 2H. *)
Definition lean_neuron (g : F) (k : nat) : F :=
  (-1) ^+ k * relu (2%:R * H%:R * (g - k.+1%:R) + H%:R + (-1) ^+ k * (f k.+1 - f k)).

Definition lean (g : F) : F := f 0 + \sum_(k < H) lean_neuron g k - H%:R * g.

Let sign_bound k : (k < H)%N -> `|(-1) ^+ k * (f k.+1 - f k)| <= H%:R.
Proof. by move=> k_lt; rewrite normrM normrX normrN1 expr1n mul1r difference. Qed.

(* ReLUs with t <= g are active, and the two signs cancel. *)
Let active (g k : nat) : (k < g <= H)%N ->
  lean_neuron g%:R k = (-1) ^+ k * (2%:R * H%:R * (g%:R - k.+1%:R) + H%:R) + (f k.+1 - f k).
Proof.
case/andP=> kg gH; have := sign_bound (leq_trans kg gH); rewrite ler_norml => /andP[low _].
rewrite /lean_neuron relu_pos; first by rewrite mulrDr mulrA -expr2 sqrr_sign mul1r.
rewrite -addrA addr_ge0 ?mulr_ge0 ?subr_ge0 ?ler_nat ?ler0n //.
by rewrite addrC -ler_subl_addr sub0r.
Qed.

(* ReLUs with t > g are 0. *)
Let inactive (g k : nat) : (g <= k < H)%N -> lean_neuron g%:R k = 0.
Proof.
case/andP=> gk kH; have := sign_bound kH; rewrite ler_norml => /andP[_ high].
rewrite /lean_neuron relu_neg ?mulr0 //.
apply: le_trans (_ : 2%:R * H%:R * -1 + H%:R + H%:R <= _); last first.
  by rewrite mulr_natl mulr2n mulrN1 -addrA addNr.
rewrite ler_add // ler_add2r ler_wpmul2l ?mulr_ge0 ?ler0n //.
by rewrite ler_subl_addl ler_subr_addr natr_succ ler_nat.
Qed.

(* The terms of K add up to (K/2) g: the first one is K (g - 1) + K/2, and the others are those of
   g - 1 with opposite signs. *)
Lemma alternating (g : nat) :
  \sum_(k < g) (-1) ^+ k * (2%:R * H%:R * (g%:R - k.+1%:R) + H%:R) = H%:R * g%:R :> F.
Proof.
elim: g => [|g IH]; first by rewrite big_ord0 mulr0.
rewrite big_ord_recl expr0 mul1r (eq_bigr (fun k : 'I_g =>
  - ((-1) ^+ k * (2%:R * H%:R * (g%:R - k.+1%:R) + H%:R)))) => [|k _].
  rewrite sumrN IH -[_.+1%:R - _]/(g.+1%:R - 1) -[g.+1%:R]natr_succ addrK mulrDr mulr1.
  rewrite mulr_natl mulrnAl mulr2n addrAC.
  by rewrite addrK.
rewrite lift0 exprS mulN1r mulNr -[g.+1%:R]natr_succ -[k.+2%:R]natr_succ.
by rewrite opprD addrACA subrr addr0.
Qed.

Let telescope (g : nat) : \sum_(k < g) (f k.+1 - f k) = f g - f 0%N.
Proof. by rewrite -(big_mkord xpredT (fun k => f k.+1 - f k)) telescope_sumr. Qed.

Theorem lean_composes (g : nat) : (g <= H)%N -> lean g%:R = f g.
Proof.
move=> gH; rewrite /lean.
have -> : \sum_(k < H) lean_neuron g%:R k = \sum_(k < g) lean_neuron g%:R k.
  rewrite [RHS](big_ord_widen _ (fun k => lean_neuron g%:R k) gH) [RHS]big_mkcond.
  by apply: eq_bigr => k _; case: leqP => // gk; rewrite inactive // gk ltn_ord.
rewrite (eq_bigr (fun k : 'I_g => (-1) ^+ k * (2%:R * H%:R * (g%:R - k.+1%:R) + H%:R) +
  (f k.+1 - f k))) => [|k _]; last by rewrite active // ltn_ord.
by rewrite big_split alternating telescope /= addrCA addrC addKr addrC subrK.
Qed.

(* robust: two ReLUs for each t = k + 1, with K = 4H. *)
Definition robust_neurons (g : F) (k : nat) : F :=
  relu (4%:R * H%:R * (g - k.+1%:R) + 2%:R * H%:R + f k.+1) -
  relu (4%:R * H%:R * (g - k.+1%:R) + 2%:R * H%:R + f k).

Definition robust (g : F) : F := f 0%N + \sum_(k < H) robust_neurons g k.

Let K_ge0 : 0 <= 4%:R * H%:R :> F. Proof. by rewrite -natrM ler0n. Qed.

Let quarter : 4%:R * H%:R * 4%:R^-1 = H%:R :> F.
Proof. by rewrite mulrAC divff ?mul1r // pnatr_eq0. Qed.

(* Within a quarter of a state g, both ReLUs of t <= g are active: their difference does not contain
   the error. *)
Let both_active (x : F) (g k : nat) : (k < g <= H)%N -> `|x - g%:R| <= 4%:R^-1 ->
  robust_neurons x k = f k.+1 - f k.
Proof.
case/andP=> kg gH; rewrite ler_norml => /andP[low _].
have fk : 0 <= f k by case/andP: (f_bounds (leq_trans (ltnW kg) gH)).
have fk1 : 0 <= f k.+1 by case/andP: (f_bounds (leq_trans kg gH)).
suff base : 0 <= 4%:R * H%:R * (x - k.+1%:R) + 2%:R * H%:R.
  rewrite /robust_neurons (relu_pos (addr_ge0 base fk1)) (relu_pos (addr_ge0 base fk)).
  by rewrite opprD addrACA subrr add0r.
have x_low : - 4%:R^-1 <= x - k.+1%:R.
  by apply: le_trans low _; rewrite ler_add2l ler_opp2 ler_nat.
apply: le_trans (ler_add (ler_wpmul2l K_ge0 x_low) (lexx _)).
by rewrite mulrN quarter mulr_natl mulr2n addKr ler0n.
Qed.

(* Both ReLUs of t > g are 0. *)
Let both_inactive (x : F) (g k : nat) : (g <= k < H)%N -> `|x - g%:R| <= 4%:R^-1 ->
  robust_neurons x k = 0.
Proof.
case/andP=> gk kH; rewrite ler_norml => /andP[_ high].
have /andP[_ fk] := f_bounds (ltnW kH); have /andP[_ fk1] := f_bounds kH.
have x_high : x - k.+1%:R <= 4%:R^-1 - 1.
  rewrite -natr_succ opprD addrA ler_add2r; apply: le_trans high.
  by rewrite ler_add2l ler_opp2 ler_nat.
suff base : 4%:R * H%:R * (x - k.+1%:R) + 2%:R * H%:R <= - H%:R.
  have zero y : y <= H%:R -> relu (4%:R * H%:R * (x - k.+1%:R) + 2%:R * H%:R + y) = 0.
    by move=> yH; rewrite relu_neg // -(addNr H%:R) ler_add.
  by rewrite /robust_neurons !zero ?subrr.
apply: le_trans (ler_add (ler_wpmul2l K_ge0 x_high) (lexx _)) _.
rewrite mulrBr quarter mulr1 !mulr_natl (mulrnDr _ 2 2) opprD addrA subrK.
by rewrite mulr2n opprD addrA subrr sub0r.
Qed.

Theorem robust_composes (x : F) (g : nat) : (g <= H)%N -> `|x - g%:R| <= 4%:R^-1 ->
  robust x = f g.
Proof.
move=> gH near; rewrite /robust.
have -> : \sum_(k < H) robust_neurons x k = \sum_(k < g) robust_neurons x k.
  rewrite [RHS](big_ord_widen _ (fun k => robust_neurons x k) gH) [RHS]big_mkcond.
  by apply: eq_bigr => k _; case: leqP => // gk; rewrite (both_inactive _ near) // gk ltn_ord.
rewrite (eq_bigr (fun k : 'I_g => f k.+1 - f k)) => [|k _]; last first.
  by rewrite (both_active _ near) // ltn_ord.
by rewrite telescope addrC subrK.
Qed.

End Compose.

Print Assumptions lean_composes.
Print Assumptions robust_composes.
