/** Tokenizer name that selects the server's own tokenizer, over /tokenize and /detokenize. */
export const SERVER_TOKENIZER = 'server'
