(* What one layer of attention transmits.  Let a layer have h heads of value dimension m, whose
   partial sums over a part of the prompt are exact in p bits.  If it solves the induction task for
   n tokens, then h(m + 1)p >= (n - 1)/2.  If it composes maps of s points, 2^(h(m + 1)p) >= s^s.
   The bounds and their proof are those of `one_layer_bound` in theory/retrieval/depth.py. *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import induction_heads.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* Alice's input a determines the tokens of her positions, Bob's input b all others.  The query is
   the last token, the same in all prompts.  The weight of a token (the exponential of its score,
   say) and its value depend on the token and its position. *)
Section Layer.
Variables (F : realFieldType) (positions : finType) (h m p : nat).
Variables (weight : 'I_h -> positions -> nat -> F) (value : 'I_h -> positions -> nat -> 'I_m -> F).
Variables (A : finType) (B : Type) (tok : A -> B -> positions -> nat) (alice : pred positions).
Hypothesis alice_tokens : forall a b b' i, alice i -> tok a b i = tok a b' i.
Hypothesis bob_tokens : forall a a' b i, ~~ alice i -> tok a b i = tok a' b i.

(* The h(m + 1) sums of a layer: of weights (None) and of weighted values, in each head. *)
Definition sum_index := ('I_h * option 'I_m)%type.
Definition summand (x : sum_index) (i : positions) (token : nat) : F :=
  weight x.1 i token * (if x.2 is Some l then value x.1 i token l else 1).
Definition sums a b : {ffun sum_index -> F} := [ffun x => \sum_i summand x i (tok a b i)].
Definition alice_sum a b x : F := \sum_(i | alice i) summand x i (tok a b i).

(* Alice's partial sums are exact in p bits: each is one of 2^p numbers.  The output is any function
   of the sums and of Bob's input, and it is the answer. *)
Variable decode : sum_index -> 'I_(2 ^ p) -> F.
Hypothesis exact_sums : forall a b x, exists c, decode x c = alice_sum a b x.
Variables (answer : A -> B -> nat) (out : B -> {ffun sum_index -> F} -> nat).
Hypothesis solves : forall a b, out b (sums a b) = answer a b.

(* Alice's message, which does not depend on b. *)
Variable b0 : B.
Definition message a : {ffun sum_index -> 'I_(2 ^ p)} :=
  [ffun x => odflt (Ordinal (expn_gt0 2 p)) [pick c | decode x c == alice_sum a b0 x]].

Lemma message_decoded a b x : decode x (message a x) = alice_sum a b x.
Proof.
have -> : alice_sum a b x = alice_sum a b0 x.
  by apply: eq_bigr => i alice_i; rewrite (alice_tokens a b b0 alice_i).
rewrite ffunE; case: pickP => [c /eqP // | none].
by have [c c_is] := exact_sums a b0 x; have := none c; rewrite c_is eqxx.
Qed.

(* Bob computes the sums, and so the answer, from the message. *)
Lemma same_answers a a' b : message a = message a' -> answer a b = answer a' b.
Proof.
move=> same; rewrite -!solves; congr out; apply/ffunP => x; rewrite !ffunE.
rewrite (bigID alice) [RHS](bigID alice) /=; congr (_ + _).
  by rewrite -!/(alice_sum _ _ _) -!message_decoded same.
by apply: eq_bigr => i bob_i; rewrite (bob_tokens a a' b bob_i).
Qed.

(* If the answers determine a, the message has at least as many bits as a. *)
Theorem messages_suffice :
  (forall a a', (forall b, answer a b = answer a' b) -> a = a') ->
  (#|A| <= 2 ^ (h * m.+1 * p))%N.
Proof.
move=> determined; have message_inj : injective message.
  by move=> a a' same; apply: determined => b; apply: same_answers.
have := leq_card _ message_inj.
by rewrite card_ffun card_prod card_option !card_ord -expnM mulnC.
Qed.

End Layer.

(* The prompts of the induction task: positions 1 ... n with n = 2B + 1.  Position 2t + 1 contains
   the marker, symbol 2, if Bob marks bit t, else the filler, symbol 3; position 2t + 2 contains bit
   t; the last one contains the marker. *)
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

(* The induction task: h(m + 1)p >= B = (n - 1)/2.  Alice has the positions 2, 4, ..., 2B. *)
Section Induction.
Variables (F : realFieldType) (B h m p : nat).
Local Notation n := (2 * B).+1%N.

Definition bits_of (s : {ffun 'I_B -> bool}) (t : nat) : bool :=
  if insub t is Some i then s i else false.

(* Position 0 contains BOS: symbol 4. *)
Definition tokens (s : {ffun 'I_B -> bool}) (mark : 'I_B) (i : 'I_n.+1) : nat :=
  if i == ord0 then 4%N else prompt B (bits_of s) mark i.

Definition induction_answer (s : {ffun 'I_B -> bool}) (mark : 'I_B) : nat :=
  let tok := prompt B (bits_of s) mark in tok (find tok false (ord_max : 'I_n.+1)).

Theorem one_layer_bound (weight : 'I_h -> 'I_n.+1 -> nat -> F)
    (value : 'I_h -> 'I_n.+1 -> nat -> 'I_m -> F) decode out :
  let alice (i : 'I_n.+1) := (i != ord0) && ~~ odd i in
  (forall s mark x, exists c : 'I_(2 ^ p),
     decode x c = alice_sum weight value tokens alice s mark x) ->
  (forall s mark, out mark (sums weight value tokens s mark) = induction_answer s mark) ->
  (B <= h * m.+1 * p)%N.
Proof.
move=> alice exact_sums solves; have [->//|B0] := posnP B.
have bit s (mark : 'I_B) : induction_answer s mark = s mark :> nat.
  rewrite /induction_answer answer_is_marked /bits_of insubT // => lt.
  by congr (s _ : nat); apply: val_inj.
rewrite -(leq_exp2l _ _ (isT : 1 < 2)%N).
have <- : #|{ffun 'I_B -> bool}| = (2 ^ B)%N by rewrite card_ffun card_bool card_ord.
apply: (messages_suffice (tok := tokens) (alice := alice) _ _ exact_sums solves (Ordinal B0)).
- move=> s mark mark' i /andP[/negPf i0 even]; rewrite /tokens i0 /prompt.
  by case: eqP => // _; rewrite (negPf even).
- move=> s s' mark i; rewrite /tokens /alice; case: eqP => //= _; rewrite negbK /prompt => odd_i.
  by rewrite odd_i.
move=> s s' same; apply/ffunP => mark; have := same mark; rewrite !bit.
by case: (s mark); case: (s' mark).
Qed.

End Induction.

(* The bound is attained for one bit, so no larger one holds: one head whose weight is the bit. *)
Section Attained.
Variable F : realFieldType.

Definition bit_weight (_ : 'I_1) (i : 'I_4) (token : nat) : F :=
  if i == 2%N :> nat then token%:R else 0.
Definition no_value (_ : 'I_1) (_ : 'I_4) (_ : nat) (_ : 'I_0) : F := 0.

Lemma bit_sum (P : pred 'I_4) (s : {ffun 'I_1 -> bool}) (mark : 'I_1) x : P (inord 2) ->
  \sum_(i | P i) summand bit_weight no_value x i (tokens s mark i) = (s ord0)%:R.
Proof.
move=> P2; rewrite (bigD1 (inord 2)) //= big1 => [|i /andP[_ i2]]; last first.
  rewrite /summand /bit_weight ifN ?mul0r //.
  by apply: contra i2 => /eqP i_is; rewrite -val_eqE /= inordK // i_is.
case: x => a [[]//|]; rewrite /summand /bit_weight inordK //= addr0 mulr1.
rewrite /tokens -val_eqE /= inordK //= /prompt /= /bits_of insubT //=.
by congr ((nat_of_bool (s _))%:R); apply: val_inj.
Qed.

Theorem bound_is_attained :
  exists (decode : sum_index 1 0 -> 'I_(2 ^ 1) -> F)
         (out : 'I_1 -> {ffun sum_index 1 0 -> F} -> nat),
    let alice (i : 'I_4) := (i != ord0) && ~~ odd i in
    [/\ forall s mark x, exists c,
          decode x c = alice_sum bit_weight no_value (@tokens 1) alice s mark x,
        forall s mark,
          out mark (sums bit_weight no_value (@tokens 1) s mark) = induction_answer s mark
      & 1 = 1 * 1 * 1]%N.
Proof.
exists (fun _ c => c%:R), (fun _ f => (f (ord0, None) == 1 : nat)); split=> // [s mark x|s mark].
  have lt : (s ord0 < 2 ^ 1)%N by case: (s ord0).
  exists (Ordinal lt); rewrite /alice_sum bit_sum //.
  by rewrite -val_eqE /= inordK.
rewrite /induction_answer answer_is_marked ffunE bit_sum // /bits_of insubT // => mark_lt.
have -> : Sub (mark : nat) mark_lt = ord0 :> 'I_1 by apply: ord1.
by case: (s ord0); rewrite ?eqxx // eq_sym oner_eq0.
Qed.

End Attained.

(* Composition: the prompt lists f, g and x, and the answer is g(f(x)).  Then 2^(h(m + 1)p) >= s^s,
   that is h(m + 1)p >= s log2(s). *)
Section Composition.
Variables (F : realFieldType) (s h m p : nat).
Local Notation maps := {ffun 'I_s -> 'I_s}.

Definition entry (f : maps) (i : nat) : nat := if insub i is Some v then f v : nat else 0%N.
Definition table (f : maps) (gx : maps * 'I_s) (i : 'I_(2 * s + 2)) : nat :=
  if (i < s)%N then entry f i else if (i < 2 * s)%N then entry gx.1 (i - s)
  else if i == (2 * s)%N :> nat then gx.2 : nat else s.

Theorem composition_bound (weight : 'I_h -> 'I_(2 * s + 2) -> nat -> F)
    (value : 'I_h -> 'I_(2 * s + 2) -> nat -> 'I_m -> F) decode out : (0 < s)%N ->
  let alice (i : 'I_(2 * s + 2)) := (i < s)%N in
  (forall f gx x, exists c : 'I_(2 ^ p),
     decode x c = alice_sum weight value table alice f gx x) ->
  (forall f gx, out gx (sums weight value table f gx) = gx.1 (f gx.2) :> nat) ->
  (s ^ s <= 2 ^ (h * m.+1 * p))%N.
Proof.
move=> s0 alice exact_sums solves.
have <- : #|maps| = (s ^ s)%N by rewrite card_ffun !card_ord.
pose id_map : maps := [ffun v => v].
apply: (messages_suffice (tok := table) (alice := alice)
  (answer := fun f gx => gx.1 (f gx.2)) _ _ exact_sums solves (id_map, Ordinal s0)).
- by move=> f gx gx' i; rewrite /alice /table => ->.
- by move=> f f' gx i; rewrite /alice /table => /negPf ->.
move=> f f' same; apply/ffunP => v; apply: val_inj.
by have := same (id_map, v); rewrite /= !ffunE.
Qed.

End Composition.

Print Assumptions messages_suffice.
Print Assumptions one_layer_bound.
Print Assumptions composition_bound.
Print Assumptions bound_is_attained.
