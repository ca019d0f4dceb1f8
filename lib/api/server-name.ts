/** Defines the names by which servers are saved and chosen. */
import * as z from 'zod/mini'

/** Name of the server and of the tokenizer that come with the application. */
export const BUILT_IN = 'built-in'

/** Schema of a server name. Names are normalized to NFC, so that names that look the same are equal. */
export const serverNameSchema = z
  .string()
  .check(
    z.normalize('NFC'),
    z.regex(
      /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]{0,58}[\p{L}\p{M}\p{N}._-])?$/u,
      'a name of at most 60 letters, digits, spaces and . _ -, beginning with a letter or digit',
    ),
  )
