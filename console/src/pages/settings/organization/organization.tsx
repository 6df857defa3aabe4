import { useApi } from '../../../api/client.ts';
import { Copy } from '../../../parts/copy.tsx';
import { ReadOnly } from '../../../parts/manage/read-only.tsx';
import { Facts, Section } from '../../../parts/page.tsx';
import { Show } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { PolicyForm } from './policy-form.tsx';

export function Organization() {
  const organization = useApi('getOrganization', {});
  return (
    <SettingsPage title="Organization" about="The name and the policies that apply to everybody.">
      <ReadOnly permission="organization:manage" to="change the organization" />
      <Show query={organization} rows={8}>
        {(data) => (
          <>
            <PolicyForm organization={data} />
            <Section title="About">
              <Facts
                rows={[
                  ['Short name', data.slug],
                  ['Created', <Time key="created" at={data.created_at} />],
                  ['Last change', <Time key="updated" at={data.updated_at} />],
                  ['ID', <Copy key="id" text={data.id} />],
                ]}
              />
            </Section>
            <SignIn />
          </>
        )}
      </Show>
    </SettingsPage>
  );
}

/** The operator of the service configures sign-in. People see what applies. */
function SignIn() {
  const service = useApi('getService', {});
  return (
    <Section title="Sign-in">
      <Show query={service}>
        {({ sign_in: { password, oidc }, version }) => (
          <Facts
            rows={[
              ['Password', password ? 'Allowed' : 'Not allowed'],
              ['Identity provider', oidc ? oidc.name : 'None. The operator of the service sets RRS_OIDC_ISSUER and RRS_OIDC_CLIENT_ID to add one.'],
              ['Version of the service', version],
            ]}
          />
        )}
      </Show>
    </Section>
  );
}
