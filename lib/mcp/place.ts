/** Reads the addresses of MCP servers from the common file format: `{"mcpServers": {name: …}}`. */
import * as z from 'zod/mini'
import { serverNameSchema } from '#lib/api/server-name.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'

/** The program or URL of an MCP server. */
export type McpPlace =
  | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  /** A program of this machine that communicates over its standard input and output. */
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** Variables in addition to those that every program gets, such as PATH and HOME. */
      readonly env: Readonly<Record<string, string>>
      readonly cwd: string | undefined
    }

/** An MCP server with its name. */
export interface NamedPlace {
  readonly name: string
  readonly place: McpPlace
}

const texts = z.record(z.string(), z.string())
const named = z.looseObject({
  command: z.optional(z.string().check(z.minLength(1))),
  args: z._default(z.array(z.string()), []),
  env: z._default(texts, {}),
  cwd: z.optional(z.string()),
  url: z.optional(z.string()),
  headers: z._default(texts, {}),
})
const fileSchema = z.looseObject({ mcpServers: z.record(serverNameSchema, named) })

/** Returns the servers of such a file in order. Throws an Error that names the position of the invalid part. */
export function serverPlacesIn(text: string): readonly NamedPlace[] {
  const value: unknown = JSON.parse(text)
  const { data, error } = fileSchema.safeParse(value)
  if (!data) throw new Error(violationText(schemaViolation(error, value)))
  return Object.entries(data.mcpServers).map(([name, { command, args, env, cwd, url, headers }]) => {
    if ((command === undefined) === (url === undefined))
      throw new Error(`mcpServers.${name}: expected either "command" or "url"`)
    return {
      name,
      place:
        url === undefined
          ? { kind: 'stdio', command: command as string, args, env, cwd }
          : { kind: 'http', url, headers },
    }
  })
}
