script_folder="/work/w/packages/packaging/conan"
echo "echo Restoring environment" > "$script_folder/deactivate_conanrunenv-release-x86_64.sh"
for v in PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH
do
   is_defined="true"
   value=$(printenv $v) || is_defined="" || true
   if [ -n "$value" ] || [ -n "$is_defined" ]
   then
       echo export "$v='$value'" >> "$script_folder/deactivate_conanrunenv-release-x86_64.sh"
   else
       echo unset $v >> "$script_folder/deactivate_conanrunenv-release-x86_64.sh"
   fi
done

export PATH="/tmp/packages/conanhome/p/b/revam8441e00cc2501/p/bin${PATH:+:$PATH}"
export LD_LIBRARY_PATH="/tmp/packages/conanhome/p/b/revam8441e00cc2501/p/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export DYLD_LIBRARY_PATH="/tmp/packages/conanhome/p/b/revam8441e00cc2501/p/lib${DYLD_LIBRARY_PATH:+:$DYLD_LIBRARY_PATH}"