import journal from './meta/_journal.json';
import m0000 from './0000_initial.sql';
import m0001 from './0001_key_scopes.sql';
import m0002 from './0002_templates.sql';
import m0003 from './0003_upload_links.sql';
import m0004 from './0004_job_tags.sql';
import m0005 from './0005_tags_of_upload_links.sql';
import m0006 from './0006_ingest_tokens.sql';
import m0007 from './0007_sorted_jobs.sql';
import m0008 from './0008_alerts.sql';

  export default {
    journal,
    migrations: {
      m0000,
m0001,
m0002,
m0003,
m0004,
m0005,
m0006,
m0007,
m0008
    }
  }
  
