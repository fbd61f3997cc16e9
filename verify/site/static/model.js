// The transformer of the library, in float64: what constructions/transformer.py computes, from the
// JSON of verify/site/exported.py.  Runs in a page and in node, without anything else.
(function (global) {
  "use strict";

  // A sparse matrix {shape, at, is} as columns and values of each row.
  function rows(matrix) {
    const [count, width] = matrix.shape;
    const out = Array.from({ length: count }, () => []);
    matrix.at.forEach((place, i) => {
      out[Math.floor(place / width)].push([place % width, matrix.is[i]]);
    });
    out.width = width;
    return out;
  }

  // row vector · sparse matrix + bias
  function times(vector, matrix, bias) {
    const out = bias ? Float64Array.from(bias) : new Float64Array(matrix.width);
    matrix.forEach((entries, i) => {
      const x = vector[i];
      if (x !== 0) for (const [j, w] of entries) out[j] += x * w;
    });
    return out;
  }

  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

  // Whether token `row` may see token `column`.
  const SEES = {
    full: () => true,
    "context-only": (row, column, examples) => column < examples,
    causal: (row, column) => column <= row,
    "strictly causal": (row, column) => column < row || (row === 0 && column === 0),
    diagonal: (row, column) => column === row,
  };

  // What each of the tokens that are seen weighs, from their scores.
  function weighed(scores, normalise, scale) {
    if (normalise === "linear") return scores.map((s) => s * scale);
    if (normalise === "relu") return scores.map((s) => (Math.max(s, 0) * scale) / scores.length);
    const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const raw = scores.map((s) =>
      normalise === "softmax" ? Math.exp((s - largest) * scale) : Number(s === largest));
    const total = raw.reduce((a, b) => a + b, 0);
    return raw.map((w) => w / total);
  }

  function head(data) {
    const [W_Q, W_K, W_V, W_O] = ["W_Q", "W_K", "W_V", "W_O"].map((name) => rows(data[name]));
    return { ...data, W_Q, W_K, W_V, W_O };
  }

  class Model {
    constructor(data) {
      Object.assign(this, data);
      this.W_E = rows(data.W_E);
      this.W_U = rows(data.W_U);
      this.W_pos = data.W_pos && rows(data.W_pos);
      this.width = this.W_E.width;
      this.blocks = data.blocks.map((block) => ({
        ...block,
        heads: block.heads.map(head),
        mlp: block.mlp && { ...block.mlp, W_in: rows(block.mlp.W_in), W_out: rows(block.mlp.W_out) },
      }));
    }

    // The stream after the embedding and after each layer, and the attention patterns.  Tokens
    // are whole numbers, or vectors.
    run(tokens, examples) {
      let H = tokens.map((token, t) => {
        const row = new Float64Array(this.width);
        if (typeof token === "number") for (const [j, w] of this.W_E[token]) row[j] += w;
        else row.set(times(token, this.W_E));
        if (this.W_pos) for (const [j, w] of this.W_pos[t]) row[j] += w;
        return row;
      });
      const streams = [H], patterns = [];
      for (const block of this.blocks) {
        const seen = block.heads.map((each) => attend(each, block, H, examples));
        patterns.push(seen.map((each) => each.pattern));
        H = H.map((row, t) => seen.reduce((sum, each) => plus(sum, each.added[t]), row));
        if (block.mlp) H = H.map((row) => plus(row, units(row, block.mlp)));
        if (block.unit) H = H.map((row) => row.map((x) => x / Math.sqrt(dot(row, row))));
        streams.push(H);
      }
      return { streams, patterns };
    }

    unembedded(row) {
      return times(row, this.W_U, this.b_U);
    }

    // The reason why these tokens are not accepted, or "".
    rejected(tokens) {
      const { vocabulary, least, most, length, slots, objects } = this.tokens;
      if (!tokens.length) return "type at least one token";
      const bad = tokens.find((t) => !Number.isInteger(t) || t < 0 || t >= vocabulary);
      const known = objects ? objects.names.join(", ") : `integers from 0 to ${vocabulary - 1}`;
      if (bad !== undefined) return `tokens are ${known}`;
      if (length !== null && tokens.length !== length) return `this model takes ${length} tokens`;
      if (tokens.length > most) return `this model was built for at most ${most} tokens`;
      const at = slots ? tokens.findIndex((t, i) => t < slots[i][0] || t >= slots[i][1]) : -1;
      if (at >= 0) return `place ${at + 1} takes a token from ${slots[at][0]} to ${slots[at][1] - 1}`;
      return tokens.length < least ? `this model takes at least ${least} tokens` : "";
    }

    // The answers to tokens, −1 for none, with logits, streams and patterns.
    answer(tokens) {
      const { prefix, examples, whole, answers, frequencies, ends } = this.tokens;
      const [behind, first] = ends ? ends[tokens.length] : [[], prefix.length];
      const prompt = [...prefix, ...tokens, ...behind];
      const { streams, patterns } = this.run(prompt, examples);
      const last = streams[streams.length - 1];
      const asked = whole ? last.slice(0, 1) : last.slice(first);
      const logits = asked.map((row) => this.unembedded(row));
      const said = logits.map((row) => {
        const largest = Math.max(...row);
        const bound = frequencies ? largest - 0.5 / prompt.length : largest;
        const first = row.findIndex((x) => x >= bound);
        return first < answers ? first : -1;
      });
      return { prompt, streams, patterns, logits, answers: said };
    }
  }

  const plus = (a, b) => a.map((x, i) => x + b[i]);

  function units(row, mlp) {
    return times(times(row, mlp.W_in, mlp.b_in).map((x) => Math.max(x, 0)), mlp.W_out, mlp.b_out);
  }

  // A head's pattern, token by token, and what it adds to the stream.
  function attend(head, block, H, examples) {
    const Q = H.map((row) => times(row, head.W_Q, head.b_Q));
    const K = H.map((row) => times(row, head.W_K, head.b_K));
    const V = H.map((row) => times(row, head.W_V));
    const pattern = H.map((_, t) => {
      const seen = H.map((_, s) => s).filter((s) => SEES[head.mask](t, s, examples));
      const weights = weighed(seen.map((s) => dot(Q[t], K[s])), block.normalise, block.scale);
      const row = new Float64Array(H.length);
      seen.forEach((s, i) => { row[s] = weights[i]; });
      return row;
    });
    const added = pattern.map((row) => {
      const mixed = new Float64Array(head.W_V.width);
      row.forEach((w, s) => { if (w !== 0) V[s].forEach((v, i) => { mixed[i] += w * v; }); });
      return times(mixed, head.W_O);
    });
    return { pattern, added };
  }

  global.weightwright = Object.assign(global.weightwright || {}, { Model });
})(typeof window === "undefined" ? globalThis : window);
