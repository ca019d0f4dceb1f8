/** Defines what this Rollscope can do, for pages and scripts that offer a choice. */
import * as z from 'zod/mini'
import { toolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** The answer of GET /api/capabilities. */
export const applicationCapabilitiesSchema = z.object({
  parsers: withDescription(z.array(z.string()), 'Names of the tool-call parsers.'),
  defaultParser: withDescription(
    z.string(),
    'The parser of runs without one of their own, if neither the server nor the chat template names a parser.',
  ),
  tools: withDescription(
    z.array(
      z.extend(toolSpec, {
        off: withDescription(
          z.optional(z.string()),
          'Why the tool cannot be used on this machine. Omitted: it can be used.',
        ),
      }),
    ),
    'Tools that come with the application.',
  ),
  mockTools: withDescription(z.boolean(), 'Whether rollouts may have mock tools.'),
  toolTimeoutMs: withDescription(
    z.int(),
    'Milliseconds that a tool call may take, unless a limit of the run sets another value.',
  ),
})
/** Parsers, tools and limits of this application. */
export type ApplicationCapabilities = Plain<z.infer<typeof applicationCapabilitiesSchema>>
