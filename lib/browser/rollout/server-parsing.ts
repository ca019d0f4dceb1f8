/** Parses a text with a server's own parsers. */
import { type ServerParsing, type ServerQuestion, serverParsingSchema } from '#lib/api/server-parsing.ts'
import { fetchJson } from '../api.ts'

/** Returns the results of both parsers. Throws ApiError; refusals of the server and missing parsers are part of the answer. */
export async function fetchServerParsing(
  server: string,
  question: ServerQuestion,
  signal: AbortSignal,
): Promise<ServerParsing> {
  const path = `/api/servers/${encodeURIComponent(server)}/parse`
  return fetchJson(path, serverParsingSchema, { method: 'POST', json: question, signal })
}
