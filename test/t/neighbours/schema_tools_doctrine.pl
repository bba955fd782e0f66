# Doctrine's schema tool, `orm:schema-tool:update`: it leaves the objects of the extension, the
# trigger snowflake_claim and a default that the entity declares alone, as doc/migrations.md says.
#
# Doctrine is Debian 14's: test/clients makes a system that contains it.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use MigrationsTest;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $php = program_in('php', '/usr/bin');
left_out_unless($php && -d '/usr/share/php/Doctrine/ORM', 'PHP with Doctrine', 'test/clients has them');
my $server = migration_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
my $program = write_program("$folder/update.php", <<'PHP');
<?php
use Doctrine\ORM\Mapping as ORM;
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
require '/usr/share/php/Doctrine/ORM/autoload.php';
#[ORM\Entity]
#[ORM\Table(name: 'item')]
class Item
{
    #[ORM\Id]
    #[ORM\Column(type: 'bigint', options: ['default' => DEFAULT_ID])]
    public ?int $id = null;
    #[ORM\Column(type: 'text')]
    public string $name = '';
}
define('DEFAULT_ID', getenv('NEXTVAL'));
$connection = Doctrine\DBAL\DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'), 'port' => (int) getenv('PGPORT'), 'dbname' => getenv('PGDATABASE'), 'user' => getenv('PGUSER')]);
$config = new Doctrine\ORM\Configuration();
$config->setMetadataDriverImpl(new Doctrine\ORM\Mapping\Driver\AttributeDriver([]));
$config->enableNativeLazyObjects(true);
$em = new Doctrine\ORM\EntityManager($connection, $config);
$tool = new Doctrine\ORM\Tools\SchemaTool($em);
$classes = [$em->getClassMetadata(Item::class)];
echo implode("\n", $tool->getUpdateSchemaSql($classes)) ?: 'nothing to do', "\n";
try { $tool->updateSchema($classes); } catch (Throwable $e) { echo $e->getMessage(), "\n"; }
PHP
my $update = sub { return (command_says($folder, $php, $program))[1] };
compares('Doctrine', $_, $update, says => qr/^nothing to do$/) for 'public', 'snowflake';
# It would notice another default.
my $db = compared_database('other', 'public');
local $ENV{NEXTVAL} = '7';
like($update->(), qr/ALTER TABLE item ALTER id SET DEFAULT 7/, '... it compares defaults');

$server->stop('fast');
done_testing();
