import { useState } from 'react';
import { usePages } from '../api/load.ts';
import type { Client } from '../api/types.ts';
import { count, duration } from '../format.ts';
import { ListPage, Pager, RemoveDialog, RowButton } from '../parts/records.tsx';
import { useWords } from '../words/words.tsx';

export function Clients() {
  const { t, locale } = useWords();
  const { rows, error, reload, pager } = usePages<Client, 'clients'>('/v1/clients', 'clients', 5000);
  const [leaving, setLeaving] = useState<Client>();
  return (
    <ListPage<Client>
      title={t.pages.clients}
      intro={t.clients.intro}
      list={t.clients.list}
      rows={rows}
      error={error}
      rowKey={(client) => client.id}
      empty={t.clients.none}
      columns={[
        { key: 'address', head: t.overview.address, cell: (client) => client.address, names: true },
        { key: 'name', head: t.common.name, cell: (client) => client.name },
        { key: 'version', head: t.clients.version, cell: (client) => client.version },
        { key: 'opens', head: t.clients.opens, cell: (client) => count(client.opens, locale), numeric: true },
        { key: 'locks', head: t.clients.locks, cell: (client) => count(client.locks, locale), numeric: true },
        { key: 'leases', head: t.clients.leases, cell: (client) => count(client.leases, locale), numeric: true },
        { key: 'silent', head: t.clients.silent, cell: (client) => duration(client.silent_seconds, locale), numeric: true },
        {
          key: 'do',
          head: '',
          cell: (client) => (
            <RowButton says={t.clients.evictOne(client.address)} onClick={() => setLeaving(client)}>
              {t.clients.evict}
            </RowButton>
          ),
        },
      ]}
    >
      <Pager {...pager} />
      {leaving !== undefined && (
        <RemoveDialog
          name={leaving.address}
          url={`/v1/clients/${leaving.id}`}
          title={t.clients.evictOne(leaving.address)}
          submit={t.clients.evict}
          done={t.clients.evicted(leaving.address)}
          reload={reload}
          onClose={() => setLeaving(undefined)}
        >
          {t.clients.evictWarning}
        </RemoveDialog>
      )}
    </ListPage>
  );
}
