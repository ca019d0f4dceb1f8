import { SessionsScreen } from '#components/sessions/screen.tsx'

/** The page /sessions: recorded sessions, their forests and tokens. */
export default function SessionsPage() {
  return <SessionsScreen />
}
