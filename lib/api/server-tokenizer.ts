/** In place of a tokenizer's name: the server's own, over /tokenize and /detokenize. */
export const SERVER_TOKENIZER = 'server'
