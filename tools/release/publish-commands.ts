/** The Maven modules for frameworks: folders of clients/java/frameworks, and with `snowlane-` before them artifacts. */
export const frameworkModules = ["hibernate", "jackson", "mybatis-plus", "spring-boot-starter"] as const;

/**
 * The commands that publish a release, in their order, for a person who has the accounts: a tag, the registries of npm,
 * Maven Central, PyPI, crates.io and Packagist, and the protos that later ones are held against.
 *
 * @param folder - With the packages, from the root of the repository.
 */
export function publishCommands(version: string, folder: string): string {
  return `# Tags. The second is the version of the Go module.
git tag --sign v${version} --message "Snowlane ${version}"
git tag --sign clients/go/v${version} --message "Snowlane's Go client ${version}"
git push origin v${version} clients/go/v${version}
# npm
npm publish ${folder}/snowlane-${version}.tgz --access public
npm publish ${folder}/snowlane-client-${version}.tgz --access public
# PyPI
twine upload ${folder}/snowlane_client-${version}*
# Maven Central, which wants each file signed
${["client", ...frameworkModules].map((name) => deploymentOf(`${folder}/snowlane-${name}-${version}`)).join("\n")}
mvn gpg:sign-and-deploy-file -DpomFile=${folder}/snowlane-frameworks-${version}.pom \\
  -Dfile=${folder}/snowlane-frameworks-${version}.pom -DrepositoryId=central -Durl=URL
# crates.io
(cd clients/rust && cargo publish)
# Packagist reads a repository that has only the PHP package, with its composer.json at the root
git clone URL php && git -C php rm -r --quiet --ignore-unmatch .
tar -xzf ${folder}/snowlane-client-php-${version}.tar.gz -C php --strip-components=1
git -C php add --all && git -C php commit --message ${version}
git -C php tag --sign v${version} --message "Snowlane's PHP client ${version}" && git -C php push --follow-tags
# The protos that later ones are held against
node_modules/.bin/buf build proto --output proto/released.binpb
`;
}

/** @param path - Of an artifact, without the endings of its files. */
function deploymentOf(path: string): string {
  return `mvn gpg:sign-and-deploy-file -DpomFile=${path}.pom \\
  -Dfile=${path}.jar -Dsources=${path}-sources.jar \\
  -Djavadoc=${path}-javadoc.jar -DrepositoryId=central -Durl=URL`;
}
