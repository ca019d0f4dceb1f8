/** The parts of the inspector that every trajectory shows beside its tokens. The first tokens do not wait for their code. */
import { lazyPart } from '#components/shell/lazy-part.tsx'

/** Summary of the health of a trajectory. */
export const HealthStrip = lazyPart(
  async () => (await import('#components/inspector/health/health-strip.tsx')).HealthStrip,
  // The fallback is as high as the strip, so that the tokens do not move.
  <div className="h-8 bg-ground max-lg:h-10" />,
)
/** Notes on tokens. */
export const NoteList = lazyPart(async () => (await import('#components/inspector/notes/note-list.tsx')).NoteList)
/** Everything known about a token. */
export const TokenCard = lazyPart(async () => (await import('#components/token-view/card/token-card.tsx')).TokenCard)
/** Rescoring on a server. */
export const VerifyPanel = lazyPart(
  async () => (await import('#components/inspector/verify/verify-panel.tsx')).VerifyPanel,
)

/** Loads the code of all of them. */
export function preloadLaterParts(): void {
  for (const part of [HealthStrip, NoteList, TokenCard, VerifyPanel]) part.preload()
}
