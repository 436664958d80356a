import { useState } from 'react';
import { useLoad } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import type { Client } from '../api/types.ts';
import { count, duration } from '../format.ts';
import { Button, FormDialog, Page, Panel, Problem, Table } from '../parts/basics.tsx';
import { useWords } from '../words/words.tsx';

export function Clients() {
  const { t, locale } = useWords();
  const call = useCall();
  const { data, error, reload } = useLoad<{ clients: Client[] }>('/v1/clients', 5000);
  const [leaving, setLeaving] = useState<Client>();
  return (
    <Page title={t.pages.clients} intro={t.clients.intro}>
      <Problem error={error} />
      <Panel title={t.clients.list}>
        <Table<Client>
          caption={t.clients.list}
          rows={data?.clients}
          error={error}
          rowKey={(client) => client.id}
          empty={t.clients.none}
          columns={[
            { key: 'address', head: t.overview.address, cell: (client) => client.address, names: true },
            { key: 'name', head: t.common.name, cell: (client) => client.name },
            { key: 'protocol', head: t.clients.protocol, cell: (client) => client.protocol },
            { key: 'opens', head: t.clients.opens, cell: (client) => count(client.opens, locale), numeric: true },
            { key: 'locks', head: t.clients.locks, cell: (client) => count(client.locks, locale), numeric: true },
            { key: 'leases', head: t.clients.leases, cell: (client) => count(client.leases, locale), numeric: true },
            { key: 'silent', head: t.clients.silent, cell: (client) => duration(client.silent_seconds), numeric: true },
            {
              key: 'do',
              head: '',
              cell: (client) => (
                <Button kind="quiet" onClick={() => setLeaving(client)} aria-label={t.clients.evictOne(client.address)}>
                  {t.clients.evict}
                </Button>
              ),
            },
          ]}
        />
      </Panel>
      {leaving !== undefined && (
        <FormDialog
          title={t.clients.evictOne(leaving.address)}
          submit={t.clients.evict}
          danger
          done={t.clients.evicted(leaving.address)}
          work={() => call('DELETE', `/v1/clients/${leaving.id}`).finally(reload)}
          onClose={() => setLeaving(undefined)}
        >
          <p>{t.clients.evictWarning}</p>
        </FormDialog>
      )}
    </Page>
  );
}
