/** How a client is connected to a session: the variable that it reads, or the command that sets all of them. */

/** A kind of client with its name on screen, and what it needs. */
export const CLIENT_KINDS = [
  {
    name: 'openai',
    label: 'OpenAI',
    needs: 'Chat completions or responses: openai, LiteLLM, Vercel AI SDK, openai-agents',
  },
  { name: 'anthropic', label: 'Anthropic', needs: 'Messages: the anthropic SDK and coding agents' },
  { name: 'command', label: 'Command', needs: 'A command with the variables of both, and a summary at its end' },
] as const
/** Name of a kind of client. */
export type ClientKind = (typeof CLIENT_KINDS)[number]['name']

/** Returns the setting of a client. `origin` is that of the application. */
export function clientSetup(kind: ClientKind, origin: string, sessionId: string): string {
  const address = `${origin}/sessions/${sessionId}`
  switch (kind) {
    case 'openai':
      return `OPENAI_BASE_URL=${address}/v1`
    case 'anthropic':
      return `ANTHROPIC_BASE_URL=${address}`
    case 'command':
      return 'npx rollscope run -- COMMAND'
  }
}
