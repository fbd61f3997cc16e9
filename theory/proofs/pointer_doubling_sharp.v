(* The last layer of pointer_doubling.v is needed: without it, floor(log2 k) + 1 layers do not make
   k hops on the tokens 1 0 1 0 ... .  There a hop leads from i >= 3 to i - 1, and from 2 and 1 to
   BOS.  (That no other model of floor(log2 k) + 1 layers makes k hops is not claimed.) *)
From mathcomp Require Import all_ssreflect all_algebra.
From weightwright Require Import hard_attention induction_heads pointer_doubling.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Sharp.
Variables (F : realFieldType) (n r : nat) (k : nat) (c : F).
Hypotheses (r_gt0 : (0 < r)%N) (n_gt : (k.+1 < n)%N) (k_gt0 : (0 < k)%N) (c_gt0 : 0 < c).
Variables (d : nat) (point : 'I_n.+1 -> 'rV[int]_d).
Hypotheses (point_inj : injective point) (point_BOS : point ord0 = 0).
Let tok (i : nat) : nat := odd i.
Let hop := @hop_to n tok.

Lemma hop_alternating (i : 'I_n.+1) : hop i = (if (i <= 2)%N then 0%N else i.-1) :> nat.
Proof.
have match_back : (2 < i)%N -> is_match tok i (back i).
  case: i => [[|[|[|i]]]] // lt _; rewrite /is_match backE /= !ltnS leqnSn /tok /=.
  by rewrite !negbK eqxx.
rewrite /hop /hop_to; case: findP => [j /and3P[j1 ji /eqP same] best | none].
  have ne : j != i :> nat.
    apply/eqP => ij; move: same; rewrite /tok -ij -{2}(ltn_predK j1) /=.
    by case: (odd j.-1).
  have lt : (j < i)%N by rewrite ltn_neqAle ne.
  have [i2|i2] := leqP i 2; first by have := leq_trans (leq_ltn_trans j1 lt) i2.
  apply/eqP; rewrite eqn_leq -ltnS (ltn_predK lt) lt /=; have [<-|nj] := eqVneq (back i) j.
    by rewrite backE.
  by have := best _ (match_back i2) nj; rewrite /order backE => /ltnW.
by case: leqP => // /match_back; rewrite (negPf (none _)).
Qed.

Lemma hops_alternating h (i : 'I_n.+1) : (h + 2 <= i)%N -> iter h hop i = (i - h)%N :> nat.
Proof.
elim: h => [_|h IH le]; first by rewrite subn0.
have le' : (h + 2 <= i)%N by apply: leq_trans le; rewrite leq_add2r.
by rewrite iterS hop_alternating IH // leqNgt ltn_subRL -addSn le subnS.
Qed.

Lemma code_neq0 x : code F r x != 0.
Proof.
apply/eqP => /rowP/(_ (Ordinal r_gt0)); rewrite !mxE.
by case: bit => /eqP; rewrite ?oppr_eq0 oner_eq0.
Qed.

Let all_layers := layers r point tok k c.

Theorem last_layer_needed : exists i,
  answer (run all_layers) i != answer (run (take (size all_layers).-1 all_layers)) i.
Proof.
have V_codes : (2 <= 2 ^ r)%N by rewrite -{1}(expn1 2) leq_exp2l.
have tok_lt i : (tok i < 2)%N by rewrite ltnS leq_b1.
have full i : answer (run all_layers) i = token_code F r tok (iter k hop i).
  exact: (hops_are_found V_codes).
have less := invariant_holds V_codes point_inj point_BOS tok_lt c_gt0 (leqnn (last_layer k)).
pose but_last : seq (registers F n r d -> registers F n r d) :=
  find_layer point tok c :: [seq jump point tok k c m | m <- iota 0 (last_layer k)].
have layers_split : all_layers = but_last ++ [:: jump point tok k c (last_layer k)].
  by rewrite /all_layers /layers -[(last_layer k).+1]addn1 iotaD map_cat.
have -> : take (size all_layers).-1 all_layers = but_last.
  by rewrite layers_split size_cat addn1 take_size_cat.
have nonzero i : i != ord0 -> token_code F r tok i != 0.
  by rewrite /token_code => /negPf->; apply: code_neq0.
have run_less : run but_last = after_jumps r point tok k c (last_layer k) by exact: run_jumps.
rewrite run_less; have [zero|some] := eqVneq (k %% 2 ^ last_layer k)%N 0%N.
  (* no bit was read before the last layer: after k hops from k + 2 there is a token *)
  have [i i_k] : exists i : 'I_n.+1, i = k.+2 :> nat by exists (inord k.+2); rewrite inordK.
  exists i; rewrite full less.2 zero eqxx; apply: nonzero.
  by rewrite -val_eqE /= hops_alternating i_k ?addn2 // subSn ?subSnn.
(* fewer hops were made: after k hops from k + 1 there is no token *)
have [i i_k] : exists i : 'I_n.+1, i = k.+1 :> nat.
  by exists (inord k.+1); rewrite inordK // ltnW.
have fewer : (k %% 2 ^ last_layer k < k)%N.
  have : (2 ^ last_layer k <= k)%N by apply: trunc_logP.
  by apply: leq_trans; rewrite ltn_mod expn_gt0.
exists i; rewrite full less.2 (negPf some) eq_sym.
have -> : iter k hop i = ord0.
  have two : (k.+1 - k.-1 = 2)%N by rewrite -{1}(prednK k_gt0) -addn2 addKn.
  apply: val_inj; rewrite -{1}(prednK k_gt0) iterS /= hop_alternating hops_alternating i_k ?two //.
  by rewrite addn2 (prednK k_gt0).
rewrite {2}/token_code eqxx; apply: nonzero.
rewrite -val_eqE /= hops_alternating i_k; first by rewrite -lt0n subn_gt0 ltnW.
by rewrite addn2 !ltnS.
Qed.

End Sharp.

Print Assumptions last_layer_needed.
