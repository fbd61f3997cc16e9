(* One layer of attention that solves the induction task transmits (n - 1)/2 bits: h(m + 1)p' >=
   (n - 1)/2 for h heads of value dimension m whose partial sums are exact in p' bits.  The bound and
   its proof are those of `one_layer_bound` in theory/retrieval/depth.py.

   Alice has B bits, the tokens at every other position.  Bob marks one of them by the query's
   symbol, just before it.  The answer of the induction task at the last token is the marked bit. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import induction_heads.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* The prompts: positions 1 ... n with n = 2B + 1.  Position 2t + 1 contains the marker, symbol 2, if
   Bob marks bit t, else the filler, symbol 3; position 2t + 2 contains bit t; the last one contains
   the marker. *)
Section Prompts.
Local Open Scope nat_scope.
Variable B : nat.
Local Notation n := (2 * B).+1.

Definition filler (mark t : nat) : nat := if t == mark then 2 else 3.

Definition prompt (bits : nat -> bool) (mark : nat) (i : nat) : nat :=
  if i == n then 2 else if odd i then filler mark i./2 else bits i.-1./2.

Lemma marked_lt (mark : 'I_B) : (2 * mark).+2 < n.
Proof.
have -> : (2 * mark).+2 = 2 * mark.+1 by rewrite mulnS.
by rewrite ltnS leq_mul2l ltn_ord.
Qed.

Lemma prompt_marker bits mark i : (i < n)%N -> prompt bits mark i = 2 -> i = (2 * mark).+1.
Proof.
move=> i_lt; rewrite /prompt (ltn_eqF i_lt); case: ifP => [odd_i|_]; last by case: bits.
rewrite /filler; case: eqP => // <- _.
by rewrite mul2n -[LHS]odd_double_half odd_i.
Qed.

Lemma prompt_marked bits (mark : 'I_B) : prompt bits mark (2 * mark).+2 = bits mark.
Proof.
have lt := marked_lt mark.
by rewrite /prompt (ltn_eqF lt) /= negbK mul2n odd_double /= uphalf_double.
Qed.

(* The answer of the induction task at the last token: its latest match follows the marker. *)
Lemma answer_is_marked bits (mark : 'I_B) :
  let tok := prompt bits mark in tok (find tok false (ord_max : 'I_n.+1)) = bits mark.
Proof.
move=> tok; have last : tok (ord_max : 'I_n.+1) = 2 by rewrite /tok /prompt eqxx.
have lt := marked_lt mark.
case: findP => [j /and3P[j1 j_le /eqP same] _ | none].
  have j_lt : (j.-1 < n)%N by rewrite -ltnS (ltn_predK j1) ltn_ord.
  by rewrite -(ltn_predK j1) (prompt_marker j_lt (etrans same last)) /tok prompt_marked.
have at_marker : tok (2 * mark).+1 = 2.
  rewrite /tok /prompt ltn_eqF; last exact: ltn_trans lt.
  by rewrite /= mul2n odd_double /= uphalf_double /filler eqxx.
have [j j_is] : exists j : 'I_n.+1, j = (2 * mark).+2 :> nat.
  by exists (inord (2 * mark).+2); rewrite inordK // ltnW.
by have := none j; rewrite /is_match j_is last /= at_marker eqxx (ltnW lt).
Qed.

End Prompts.

(* One layer at the last token.  The weight of a token (the exponential of its score, say) and its
   value depend on the token and its position, and on the last token. *)
Section Layer.
Variables (F : realFieldType) (B h m p : nat).
Local Notation n := (2 * B).+1%N.
Variable weight : 'I_h -> nat -> 'I_n.+1 -> nat -> F.    (* head, last token, position, token *)
Variable value : 'I_h -> 'I_n.+1 -> nat -> 'I_m -> F.

(* The h(m + 1) sums of a layer: of weights (None) and of weighted values, in each head. *)
Definition sums := {ffun 'I_h * option 'I_m -> F}.

Definition summand (tok : nat -> nat) (x : 'I_h * option 'I_m) (j : 'I_n.+1) : F :=
  weight x.1 (tok n) j (tok j) * (if x.2 is Some l then value x.1 j (tok j) l else 1).

(* The layer outputs any function of the sums, of the last token and of BOS. *)
Variable out : sums -> nat.
Definition layer_output (tok : nat -> nat) : nat :=
  out [ffun x => \sum_(j : 'I_n.+1 | (0 < j)%N) summand tok x j].

(* Alice has the tokens at the positions 2, 4, ..., 2B. *)
Definition bits_of (s : {ffun 'I_B -> bool}) (t : nat) : bool :=
  if insub t is Some i then s i else false.

Definition alice_sum (s : {ffun 'I_B -> bool}) (x : 'I_h * option 'I_m) : F :=
  \sum_(j : 'I_n.+1 | (0 < j)%N && ~~ odd j) summand (prompt B (bits_of s) 0) x j.

(* Her partial sums are exact in p bits: each is one of 2^p numbers. *)
Variable decode : 'I_h * option 'I_m -> 'I_(2 ^ p) -> F.
Hypothesis exact_sums : forall s x, exists c, decode x c = alice_sum s x.
Hypothesis solves : forall (bits : nat -> bool) (mark : 'I_B),
  let tok := prompt B bits mark in layer_output tok = tok (find tok false (ord_max : 'I_n.+1)).

Lemma prompt_last bits mark : prompt B bits mark n = 2%N.
Proof. by rewrite /prompt eqxx. Qed.

(* Tokens at even positions do not depend on the mark, and those at odd positions not on the bits. *)
Lemma prompt_even bits mark mark' j : ~~ odd j -> prompt B bits mark j = prompt B bits mark' j.
Proof. by rewrite /prompt => /negPf->. Qed.

Lemma prompt_odd bits bits' mark j : odd j -> prompt B bits mark j = prompt B bits' mark j.
Proof. by rewrite /prompt => ->. Qed.

Lemma sums_split s mark x :
  \sum_(j : 'I_n.+1 | (0 < j)%N) summand (prompt B (bits_of s) mark) x j =
  alice_sum s x + \sum_(j : 'I_n.+1 | (0 < j)%N && odd j) summand (prompt B (fun=> false) mark) x j.
Proof.
rewrite (bigID (fun j : 'I_n.+1 => ~~ odd j)) /=; congr (_ + _).
  apply: eq_bigr => j /andP[_ even]; rewrite /summand !prompt_last.
  by rewrite (prompt_even _ mark 0 even).
apply: eq_big => [j|j /andP[_]]; rewrite negbK // => odd_j.
by rewrite /summand !prompt_last (prompt_odd _ (fun=> false) mark odd_j).
Qed.

(* Alice's message. *)
Definition message (s : {ffun 'I_B -> bool}) : {ffun 'I_h * option 'I_m -> 'I_(2 ^ p)} :=
  [ffun x => odflt (Ordinal (expn_gt0 2 p)) [pick c | decode x c == alice_sum s x]].

Lemma message_decoded s x : decode x (message s x) = alice_sum s x.
Proof.
rewrite ffunE; case: pickP => [c /eqP // | none].
by have [c c_is] := exact_sums s x; have := none c; rewrite c_is eqxx.
Qed.

(* From the message, Bob finds every bit. *)
Lemma message_inj : injective message.
Proof.
move=> s s' same; apply/ffunP => mark.
have bit t : bits_of t mark = t mark.
  by rewrite /bits_of insubT // => lt; congr (t _); apply: val_inj.
have bob t : bits_of t mark = layer_output (prompt B (bits_of t) mark) :> nat.
  by rewrite solves answer_is_marked.
have : bits_of s mark = bits_of s' mark :> nat.
  rewrite !bob; congr out; apply/ffunP => x.
  by rewrite !ffunE !sums_split -!message_decoded same.
by rewrite !bit; case: (s mark); case: (s' mark).
Qed.

(* The bound: (n - 1)/2 = B <= h (m + 1) p. *)
Theorem one_layer_bound : (B <= h * m.+1 * p)%N.
Proof.
have := leq_card _ message_inj.
rewrite !card_ffun card_bool card_prod card_option !card_ord -expnM leq_exp2l //.
by rewrite mulnC.
Qed.

End Layer.

Print Assumptions one_layer_bound.
