/** Defines the name by which a server is saved and chosen. */
import * as z from 'zod'

/** Schema of a server name. Names are normalized to NFC, so that names that look the same are equal. */
export const serverNameSchema = z
  .string()
  .normalize('NFC')
  .regex(
    /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]{0,58}[\p{L}\p{M}\p{N}._-])?$/u,
    'a name of at most 60 letters, digits, spaces and . _ -, beginning with a letter or digit',
  )
