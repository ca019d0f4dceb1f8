import { lazyPart } from '#components/shell/lazy-part.tsx'

/** The parts of the inspector that every trajectory shows beside its tokens. The first tokens do not wait for their code. */
export const LaterParts = {
  /** Summary of the health. The placeholder is as high, so that the tokens do not move. */
  HealthStrip: lazyPart(
    async () => (await import('#components/inspector/health/health-strip.tsx')).HealthStrip,
    <div className="h-8 bg-ground max-lg:h-10" />,
  ),
  /** The placeholder is as high as the list of a stored trajectory without notes. */
  NoteList: lazyPart(
    async () => (await import('#components/inspector/notes/note-list.tsx')).NoteList,
    <div className="h-19" />,
  ),
  TokenCard: lazyPart(async () => (await import('#components/token-view/card/token-card.tsx')).TokenCard),
  VerifyPanel: lazyPart(async () => (await import('#components/inspector/verify/verify-panel.tsx')).VerifyPanel),
}
