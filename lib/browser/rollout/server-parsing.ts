/** What a server's own parsers make of a text. */
import { type ServerParsing, type ServerQuestion, serverParsingSchema } from '#lib/api/server-parsing.ts'
import { fetchJson } from '../api.ts'

/** Throws ApiError; what the server itself refuses or lacks is part of the answer. */
export async function askServerParsers(
  server: string,
  question: ServerQuestion,
  signal: AbortSignal,
): Promise<ServerParsing> {
  const path = `/api/servers/${encodeURIComponent(server)}/parse`
  return fetchJson(path, serverParsingSchema, { method: 'POST', json: question, signal })
}
