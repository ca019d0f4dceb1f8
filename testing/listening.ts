import type { AddressInfo, Server } from 'node:net'

/** Starts a server on 127.0.0.1, without a number on a free port, and returns its port. */
export async function listening(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Starts an HTTP server on 127.0.0.1, without a number on a free port, and returns its address. */
export const listeningUrl = async (server: Server, port?: number): Promise<string> =>
  `http://127.0.0.1:${await listening(server, port)}`

/** Closes an HTTP server with its connections. */
export function closeServer(server: Server & { closeAllConnections(): void }): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
